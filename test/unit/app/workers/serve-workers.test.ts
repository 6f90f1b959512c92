/** The socket on which the owner of a data directory takes the requests of its workers. */
import fs, { statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { WorkersServer } from '../../../../src/app/workers/serve-workers.ts';
import { machineDisk } from '../../../../src/disk/disk.ts';
import { temporaryDirectory } from '../../../support/directory.ts';

/** @returns the modes of the socket before each change of its mode, and when workers start. */
async function modesOf(data: string): Promise<number[]> {
  const modes: number[] = [];
  const note = () => modes.push(statSync(join(data, 'workers.sock')).mode & 0o777);
  const { chmodSync } = fs;
  fs.chmodSync = (...args) => {
    note();
    chmodSync(...args);
  };
  try {
    const pool = {
      open: async () => {
        note();
        return '';
      },
      close: async () => {},
    };
    const server = new WorkersServer({ data, disk: machineDisk, pool: pool as never });
    await server.listen({
      host: '127.0.0.1',
      port: 0,
      application: {} as never,
      onError: () => {},
    });
    await server.close(0);
  } finally {
    fs.chmodSync = chmodSync;
  }
  return modes;
}

test('the socket is for its owner alone from its beginning, and the umask stays as it was', async () => {
  const before = process.umask(0);
  try {
    assert.equal(await modesOf(temporaryDirectory()), [0o700]);
    assert.is(process.umask(), 0);
  } finally {
    process.umask(before);
  }
});

test.run();
