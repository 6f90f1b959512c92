/** `migrate` holds the lock of its directory from its first write to its last. */
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { migrate } from '../../../../src/cli/commands/migrate.ts';
import type { Disk } from '../../../../src/disk/disk.ts';
import { isHeld } from '../../../../src/disk/lock.ts';
import { temporaryDirectory } from '../../../support/directory.ts';
import { quickDisk } from '../../../support/disk.ts';
import { fixture } from '../../../support/paths.ts';
import { contextOf } from '../../../support/service.ts';

/** A disk that records before each call whether the lock of the directory is held. */
function asking(directory: string, answers: boolean[]): Disk {
  return new Proxy(quickDisk, {
    get(disk, name: keyof Disk) {
      const call = disk[name];
      if (typeof call !== 'function') return call;
      return (...args: never[]) => {
        answers.push(isHeld(join(directory, 'lock')));
        return (call as (...all: never[]) => unknown).apply(disk, args);
      };
    },
  });
}

for (const [what, fill] of [
  ['an empty directory', () => {}],
  [
    'a store of version 1',
    (data: string) => {
      cpSync(fixture(1), data, { recursive: true });
      rmSync(join(data, 'lock'), { force: true });
    },
  ],
] as const) {
  test(`migrate holds the lock during every disk call for ${what}, and not afterwards`, async () => {
    const data = temporaryDirectory();
    fill(data);
    const answers: boolean[] = [];
    const disk = asking(data, answers);
    await migrate({ data, demo: false, dryRun: false }, contextOf(disk));
    assert.ok(answers.length > 10, `${answers.length} calls`);
    // The first one finds out what the directory holds: no lock is made in that of an archive.
    assert.not.ok(answers.includes(false, 1));
    assert.not.ok(isHeld(join(data, 'lock')), 'afterwards it is free');
  });
}

test.run();
