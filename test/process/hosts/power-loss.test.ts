/**
 * Power loss of a majority of the etcd nodes (spec 15.20): each node writes to ext4 on a loop
 * device. While a host writes, all nodes are stopped, and the devices of two are copied, which is
 * what a power cut leaves. The third node stays stopped: every answered write has to be on the two
 * copies.
 *
 *     POWER_CUTS=20 bun test/process/hosts/power-loss.test.ts
 */
import { test as uvuTest } from 'uvu';
import * as assert from 'uvu/assert';
import { send } from '../../support/client.ts';
import { type Etcd, HAS_ETCD, startEtcd } from '../../support/etcd.ts';
import { killServers } from '../../support/server.ts';
import { canCutPower, CutDisk, unmountAll } from '../../support/small-disk.ts';
import { until } from '../../support/until.ts';
import { Host, Ledger, startHosts } from './cluster-ledger.ts';

const CUTS = Number(process.env['POWER_CUTS'] || 1);
const NODES = 3;
const WRITERS = 6;

/** Responses between two cuts. */
const ANSWERS = 20;

/** etcd preallocates its write-ahead log in files of 64 MiB. */
const DISK_MIB = 512;

// Without etcd (Debian: etcd-server), or the right to mount a device, this is skipped.
const test = HAS_ETCD && canCutPower ? uvuTest : uvuTest.skip;

let etcd: Etcd | null = null;

uvuTest.after(async () => {
  await killServers();
  await etcd?.close();
  unmountAll();
});

/** Cuts the power of a majority and restarts it from its disks; the other nodes stay stopped. */
async function cutPower(nodes: Etcd, disks: CutDisk[], cut: readonly number[]): Promise<void> {
  for (let nth = 0; nth < NODES; nth += 1) nodes.signal(nth, 'SIGSTOP');
  await until('all nodes stand still', () => disks.every((_, nth) => nodes.isStopped(nth)));
  for (const nth of cut) {
    const disk = disks[nth] as CutDisk;
    const left = disk.cut();
    await nodes.kill(nth);
    disk.remove();
    disks[nth] = left;
    nodes.start(nth, left.directory);
  }
  for (const nth of cut) await until('the majority answers', () => nodes.answers(nth));
}

/** Starts a host in an empty directory, and compares its catalog with the answered writes. */
async function judge(nodes: Etcd, answered: ReadonlyMap<string, number>): Promise<void> {
  const [host] = (await startHosts(nodes, 1)) as [Host];
  const { json } = await send(host, 'GET', '/books/');
  const books = new Map((json as { id: number; name: string }[]).map(({ id, name }) => [name, id]));
  assert.is(books.size, (json as unknown[]).length, 'nothing is created twice');
  for (const [name, id] of answered) assert.is(books.get(name), id, name);
  await host.stop();
}

test('answered writes survive a power loss of a majority of the etcd nodes', async () => {
  const disks = Array.from({ length: NODES }, () => CutDisk.make(DISK_MIB));
  const nodes = await startEtcd(NODES, { directories: disks.map(({ directory }) => directory) });
  etcd = nodes;
  const hosts = await startHosts(nodes, 1);
  const ledger = new Ledger(hosts);
  const writing = Array.from({ length: WRITERS }, (_, nth) => ledger.write(nth));
  try {
    for (let nth = 0; nth < CUTS; nth += 1) {
      const before = ledger.created.size;
      await until('there are more answers', () => ledger.created.size >= before + ANSWERS);
      const third = nth % NODES;
      await cutPower(
        nodes,
        disks,
        [0, 1, 2].filter((each) => each !== third),
      );
      await judge(nodes, new Map(ledger.created));
      nodes.signal(third, 'SIGCONT');
    }
  } finally {
    ledger.end();
    await Promise.all(writing);
  }
  await judge(nodes, ledger.created);
  process.stdout.write(`${CUTS} power cuts: ${ledger.created.size} books\n`);
});

uvuTest.run();
