/** Durable files are written in a staging directory, if the file system has a place for it. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Disk, machineDisk } from '../../../src/disk/disk.ts';
import { withOpen } from '../../../src/disk/durable-file.ts';
import { removeStaging, Staging } from '../../../src/disk/staging.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { type Refusal, RefusingDisk } from '../../support/refusing-disk.ts';
import { turn } from '../../support/turns.ts';

const STAGED = /^\.staging-[0-9a-f]{16}$/;

/** A staging directory, and files that are written through it into a directory next to it. */
class Workplace {
  readonly disk = new RefusingDisk();
  readonly parent = temporaryDirectory();
  readonly files = join(this.parent, 'files');
  readonly staging = new Staging(this.disk, this.parent);
  /** The directories in which files were created. */
  readonly createdIn: string[] = [];

  constructor(refusal: Refusal = () => null) {
    mkdirSync(this.files);
    this.disk.refusal = (step, path) => {
      if (step === 'create') this.createdIn.push(dirname(path));
      return refusal(step, path);
    };
  }

  write(name: string): Promise<Error | null> {
    const path = join(this.files, name);
    return withOpen(this.disk, this.files, (fd) =>
      this.staging.write(path, Buffer.from(`${name}\n`), fd, { exclusive: true }),
    );
  }

  /** The names next to the directory of the files. */
  get beside(): string[] {
    return readdirSync(this.parent).filter((name) => name !== 'files');
  }
}

test('files are written in one staging directory, which is then empty and is removed at close', async () => {
  const place = new Workplace();
  assert.equal(place.beside, []);
  assert.is(await place.write('a'), null);
  assert.is(await place.write('b'), null);
  assert.equal(readdirSync(place.files).sort(), ['a', 'b']);
  assert.is(readFileSync(join(place.files, 'b'), 'utf8'), 'b\n');
  const [name = ''] = place.beside;
  assert.is(place.beside.length, 1);
  assert.match(name, STAGED);
  assert.equal(place.createdIn, [join(place.parent, name), join(place.parent, name)]);
  assert.equal(readdirSync(join(place.parent, name)), []);
  await place.staging.close();
  assert.equal(place.beside, []);
});

test('without a file, no staging directory is created', async () => {
  const place = new Workplace();
  await place.staging.close();
  assert.equal(place.beside, []);
});

test('if the staging directory cannot be created, a file is written in its own directory', async () => {
  const place = new Workplace((step) => (step === 'makeApart' ? 'EROFS' : null));
  assert.is(await place.write('a'), null);
  assert.equal(place.createdIn, [place.files]);
  assert.equal(place.beside, []);
  await place.staging.close();
});

test('if the file system does not place directories apart, there is no staging directory', async () => {
  const place = new Workplace();
  place.disk.makeApart = async () => false;
  assert.is(await place.write('a'), null);
  assert.equal(place.createdIn, [place.files]);
  assert.equal(place.beside, []);
});

test('if the staging directory was removed, files are written in their own directory', async () => {
  const place = new Workplace();
  await place.write('a');
  for (const name of place.beside) rmSync(join(place.parent, name), { recursive: true });
  assert.is(await place.write('b'), null);
  assert.is(await place.write('c'), null);
  assert.equal(readdirSync(place.files).sort(), ['a', 'b', 'c']);
  assert.equal(place.createdIn.slice(-2), [place.files, place.files]);
  await place.staging.close();
});

test('if a link out of the staging directory fails with EXDEV, a file is written in its own directory', async () => {
  let links = 0;
  const place = new Workplace((step) => (step === 'link' && (links += 1) === 1 ? 'EXDEV' : null));
  assert.is(await place.write('a'), null);
  assert.equal(readdirSync(place.files), ['a']);
  assert.equal(
    place.createdIn.map((path) => basename(path)).filter((name) => !STAGED.test(name)),
    ['files'],
  );
});

test('another error is thrown, and the next file is written in the same staging directory', async () => {
  let isFull = true;
  const place = new Workplace((step) => (step === 'fdatasync' && isFull ? 'ENOSPC' : null));
  const refused = await place.write('a').then(String, (error: NodeJS.ErrnoException) => error.code);
  assert.is(refused, 'ENOSPC');
  assert.equal(readdirSync(place.files), []);
  isFull = false;
  assert.is(await place.write('a'), null);
  assert.is(new Set(place.createdIn).size, 1);
});

test('staging directories of killed processes are removed, except for files that are not theirs', async () => {
  const place = new Workplace();
  const left = join(place.parent, '.staging-0123456789abcdef');
  const strange = join(place.parent, '.staging-fedcba9876543210');
  for (const directory of [left, strange]) {
    mkdirSync(directory);
    writeFileSync(join(directory, '.0011223344556677.tmp'), 'half');
  }
  writeFileSync(join(strange, 'notes.txt'), 'mine');
  mkdirSync(join(place.parent, '.staging-mine'));
  const slow: Disk = {
    ...machineDisk,
    async unlink(path) {
      await turn();
      rmSync(path);
    },
  };
  await removeStaging(slow, place.parent);
  assert.equal(place.beside.sort(), [basename(strange), '.staging-mine']);
  assert.equal(readdirSync(strange), ['notes.txt']);
});

test.run();
