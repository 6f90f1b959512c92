/**
 * Power loss on a real file system: a server writes to ext4 on a loop device. While the server is
 * stopped, the device is copied: the copy is what a power cut leaves. The journal of the copy is
 * replayed, and every answered write has to be there.
 *
 *     POWER_CUTS=100 bun test/process/crash/ext4.test.ts
 */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { machineDisk } from '../../../src/disk/disk.ts';
import { checkStore } from '../../../src/store/check.ts';
import { readSnapshot } from '../../../src/store/directory.ts';
import { send } from '../../support/client.ts';
import { threadsOf } from '../../support/linux.ts';
import { killServers, startServer, type TestServer } from '../../support/server.ts';
import { canCutPower, CutDisk, unmountAll } from '../../support/small-disk.ts';
import { until } from '../../support/until.ts';

const CUTS = Number(process.env['POWER_CUTS'] || 5);
const WRITERS = 6;

/** Responses between two cuts. */
const ANSWERS = 20;

/** The last confirmed name of a writer's row, and the name in its current request. */
interface Written {
  readonly id: number;
  answered: string;
  asked: string;
}

test.after(async () => {
  await killServers();
  unmountAll();
});

/** Renames one row repeatedly until `ends`. */
async function rename(
  server: TestServer,
  row: Written,
  ends: () => boolean,
  onResponse: () => void,
): Promise<void> {
  for (let nth = 1; !ends(); nth += 1) {
    row.asked = `${row.id} ${nth}`;
    const body = { name: row.asked, logo: 'x'.repeat(200), first_letter: 'B' };
    const { status, text } = await send(server, 'PUT', `/admin/brands/${row.id}/`, { body });
    assert.is(status, 200, text);
    row.answered = row.asked;
    onResponse();
  }
}

/** Compares what a power cut has left with the responses before it. */
function judge(data: string, answered: readonly Written[]): void {
  assert.equal(checkStore(machineDisk, data).findings, []);
  const brands = readSnapshot(data).rows.brands;
  for (const row of answered) {
    const name = brands.get(row.id)?.['name'];
    assert.ok(
      name === row.answered || name === row.asked,
      `${String(name)}: ${JSON.stringify(row)}`,
    );
  }
}

/** Waits until the process has stopped: `kill -STOP` returns earlier. */
async function stopped(pid: number): Promise<void> {
  await until('every thread has stopped', () =>
    threadsOf(pid).every(({ fields: [, , state] }) => state === 'T'),
  );
}

const NAME = 'answered writes survive a power cut on ext4 at any moment';

const testDevices = (run: () => Promise<void>) =>
  canCutPower
    ? test(NAME, run)
    : test.skip(`${NAME} (skipped: needs the right to mount a device)`, run);

testDevices(async () => {
  const disk = CutDisk.make();
  const data = join(disk.directory, 'data');
  const server = await startServer({ data, args: ['--history', '0'] });
  const { pid } = server.child;
  assert.ok(pid !== undefined);
  const rows: Written[] = [];
  for (let id = 1; id <= WRITERS; id += 1) {
    const body = { name: 'new', logo: '', first_letter: 'B' };
    assert.is((await send(server, 'POST', '/admin/brands/', { body })).status, 201);
    rows.push({ id, answered: 'new', asked: 'new' });
  }
  let answers = 0;
  let isOver = false;
  const writers = rows.map((row) =>
    rename(
      server,
      row,
      () => isOver,
      () => (answers += 1),
    ),
  );
  for (let cut = 1; cut <= CUTS; cut += 1) {
    await until('there are more answers', () => answers >= cut * ANSWERS);
    server.child.kill('SIGSTOP');
    await stopped(pid);
    // Responses that were sent before the cut arrive meanwhile.
    await pause(20);
    const answered = rows.map((row) => ({ ...row }));
    const left = disk.cut();
    judge(join(left.directory, 'data'), answered);
    left.remove();
    server.child.kill('SIGCONT');
  }
  isOver = true;
  await Promise.all(writers);
  await server.stop();
  judge(data, rows);
  disk.remove();
});

test.run();
