/** spec 10.7: a reader finds every change set, while the owner adds and removes some. */
import { basename } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Disk } from '../../../../src/disk/disk.ts';
import { ChangeFiles } from '../../../../src/store/files/change-files.ts';
import { changeSetName } from '../../../../src/store/files/files.ts';
import { quickDisk } from '../../../support/disk.ts';

/** Change sets by their sequences. */
type Contents = Map<number, Buffer>;

const contentsOf = (...sequences: readonly number[]): Contents =>
  new Map(sequences.map((sequence) => [sequence, Buffer.from(`change set ${sequence}`)]));

/** A disk with these change sets. */
const diskOf = (contents: Contents): Disk => ({
  ...quickDisk,
  list: () => [...contents.keys()].map((sequence) => basename(changeSetName(sequence))),
  read: (path) => contents.get(Number.parseInt(basename(path), 10)) ?? null,
});

test('an absent change set is a gap if there is a later one, and otherwise the end', () => {
  const contents = contentsOf(1, 3);
  const files = new ChangeFiles(diskOf(contents), '/data');
  assert.is(files.next(1), contents.get(1));
  assert.is(files.next(2), 3);
  assert.is(files.next(4), 'end');
});

test('two change sets that are written after the first of them was looked for are no gap', () => {
  const [contents, written] = [contentsOf(1), contentsOf(1, 2, 3)];
  const disk = diskOf(contents);
  const writing: Disk = {
    ...disk,
    list(path) {
      for (const [sequence, bytes] of written) contents.set(sequence, bytes);
      return disk.list(path);
    },
  };
  assert.is(new ChangeFiles(writing, '/data').next(2), written.get(2));
});

test('change sets that were taken are given after their removal, and later ones are ignored', () => {
  const contents = contentsOf(1, 2);
  const files = new ChangeFiles(diskOf(contents), '/data');
  const [first, second] = [contents.get(1), contents.get(2)];
  files.take();
  contents.clear();
  contents.set(3, Buffer.from('later'));
  assert.is(files.next(1), first);
  assert.is(files.next(2), second);
  assert.is(files.next(3), 'end');
});

test('a reader takes the newest change sets up to 64 MiB', () => {
  const large = Buffer.alloc(24 * 1024 * 1024);
  const contents: Contents = new Map([1, 2, 3, 4].map((sequence) => [sequence, large]));
  const files = new ChangeFiles(diskOf(contents), '/data');
  files.take();
  contents.clear();
  const found = [1, 2, 3, 4].map((sequence) => files.next(sequence));
  // Of the others only the next one that was there is known. Buffers are too long for a message.
  assert.equal(
    found.map((each) => (each === large ? 'taken' : each)),
    [2, 3, 'taken', 'taken'],
  );
});

test('a change set that is too long to be taken is read as long as it is there', () => {
  const large = Buffer.alloc(65 * 1024 * 1024);
  const files = new ChangeFiles(diskOf(new Map([...contentsOf(1), [2, large]])), '/data');
  files.take();
  assert.is(String(files.next(1)), 'change set 1');
  assert.ok(files.next(2) === large);
  assert.is(files.next(3), 'end');
});

test.run();
