/** Durable files are written away from their names, where the file system has a place for that. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { withOpen } from '../../../src/disk/durable-file.ts';
import { removeStaging, Staging } from '../../../src/disk/staging.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { type Refusal, RefusingDisk } from '../../support/refusing-disk.ts';

const STAGED = /^\.staging-[0-9a-f]{16}$/;

/** A staging directory, and the files that are written through it, in a directory beside it. */
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

  /** What is beside the directory of the files. */
  get beside(): string[] {
    return readdirSync(this.parent).filter((name) => name !== 'files');
  }
}

test('files are written in one directory beside theirs, and nothing is left of them in it', async () => {
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

test('without a first file there is no directory', async () => {
  const place = new Workplace();
  await place.staging.close();
  assert.equal(place.beside, []);
});

test('a file is written beside its name if the disk refuses the directory', async () => {
  const place = new Workplace((step) => (step === 'makeApart' ? 'EROFS' : null));
  assert.is(await place.write('a'), null);
  assert.equal(place.createdIn, [place.files]);
  assert.equal(place.beside, []);
  await place.staging.close();
});

test('a file system that puts directories nowhere else gets none', async () => {
  const place = new Workplace();
  place.disk.makeApart = async () => false;
  assert.is(await place.write('a'), null);
  assert.equal(place.createdIn, [place.files]);
  assert.equal(place.beside, []);
});

test('files are written beside their names once somebody has removed the directory', async () => {
  const place = new Workplace();
  await place.write('a');
  for (const name of place.beside) rmSync(join(place.parent, name), { recursive: true });
  assert.is(await place.write('b'), null);
  assert.is(await place.write('c'), null);
  assert.equal(readdirSync(place.files).sort(), ['a', 'b', 'c']);
  assert.equal(place.createdIn.slice(-2), [place.files, place.files]);
  await place.staging.close();
});

test('files are written beside their names if a link may not lead out of the directory', async () => {
  let links = 0;
  const place = new Workplace((step) => (step === 'link' && (links += 1) === 1 ? 'EXDEV' : null));
  assert.is(await place.write('a'), null);
  assert.equal(readdirSync(place.files), ['a']);
  assert.equal(
    place.createdIn.map((path) => basename(path)).filter((name) => !STAGED.test(name)),
    ['files'],
  );
});

test('another refusal is the answer, and the next file is written as before', async () => {
  let isFull = true;
  const place = new Workplace((step) => (step === 'fdatasync' && isFull ? 'ENOSPC' : null));
  const refused = await place.write('a').then(String, (error: NodeJS.ErrnoException) => error.code);
  assert.is(refused, 'ENOSPC');
  assert.equal(readdirSync(place.files), []);
  isFull = false;
  assert.is(await place.write('a'), null);
  assert.is(new Set(place.createdIn).size, 1);
});

test('what killed runs left is removed, but for files that they did not write', async () => {
  const place = new Workplace();
  const left = join(place.parent, '.staging-0123456789abcdef');
  const strange = join(place.parent, '.staging-fedcba9876543210');
  for (const directory of [left, strange]) {
    mkdirSync(directory);
    writeFileSync(join(directory, '.0011223344556677.tmp'), 'half');
  }
  writeFileSync(join(strange, 'notes.txt'), 'mine');
  mkdirSync(join(place.parent, '.staging-mine'));
  await removeStaging(place.disk, place.parent);
  assert.equal(place.beside.sort(), [basename(strange), '.staging-mine']);
  assert.equal(readdirSync(strange), ['notes.txt']);
});

test.run();
