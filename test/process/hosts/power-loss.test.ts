/**
 * Power loss of the disks of a majority (spec 15.20): each node of etcd writes to ext4 on a device
 * that is a file. While a host writes, two nodes are stopped and their devices copied, which is what
 * a power cut leaves. The third one stands still, too: what was answered has to be on the two copies.
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

/** Answers between two cuts. */
const ANSWERS = 20;

/** A node of etcd writes its log ahead of time into files of 64 MiB. */
const DISK_MIB = 512;

// Without etcd (Debian: etcd-server), or the right to mount a device, this is skipped.
const test = HAS_ETCD && canCutPower ? uvuTest : uvuTest.skip;

let etcd: Etcd | null = null;

uvuTest.after(async () => {
  await killServers();
  await etcd?.close();
  unmountAll();
});

/** A majority loses its power, and comes back with what its disks hold, while the others stand still. */
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

/** Takes everything from the log into an empty directory, and holds it against the answers. */
async function judge(nodes: Etcd, answered: ReadonlyMap<string, number>): Promise<void> {
  const [host] = (await startHosts(nodes, 1)) as [Host];
  const { json } = await send(host, 'GET', '/books/');
  const books = new Map((json as { id: number; name: string }[]).map(({ id, name }) => [name, id]));
  assert.is(books.size, (json as unknown[]).length, 'nothing is created twice');
  for (const [name, id] of answered) assert.is(books.get(name), id, name);
  await host.stop();
}

test('what was answered survives the power loss of a majority of the disks', async () => {
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
