/** A host that shares its log with others, and cannot take the base that it needs (spec 15.24). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ClusterHost } from '../../../../src/app/hosts/cluster-host.ts';
import type { HostParts } from '../../../../src/app/hosts/host.ts';
import type { Cluster } from '../../../../src/hosts/cluster/cluster.ts';
import { ownDirectory } from '../../../../src/store/directory.ts';
import { temporaryDirectory } from '../../../support/directory.ts';
import { quickDisk } from '../../../support/disk.ts';
import { codeOf } from '../../../support/failure.ts';
import { turn } from '../../../support/turns.ts';

test('a failure to take a base is not thrown again when the host is stopped', async () => {
  const data = temporaryDirectory();
  const parts = { options: { data }, context: { disk: quickDisk } };
  const host = new ClusterHost(
    { originOfHistory: async () => null } as unknown as Cluster,
    parts as unknown as HostParts,
  );
  await host.begin();
  assert.is(host.reason(), 'this host is fetching a base from another host (0 %)');
  const lock = ownDirectory(data, 'serve');
  assert.is(await codeOf(host.run()), 'store_locked');
  await host.stop();
  lock.close();
});

test('a stop waits for what the host is doing to take a base, and takes none', async () => {
  const data = temporaryDirectory();
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<[]>();
  const cluster = {
    originOfHistory: async () => null,
    others() {
      asked.resolve();
      return answer.promise;
    },
  };
  const log = { warn() {} };
  const parts = { options: { data }, context: { disk: quickDisk }, observability: { log } };
  const host = new ClusterHost(cluster as unknown as Cluster, parts as unknown as HostParts);
  await host.begin();
  const running = host.run();
  await asked.promise;
  let isStopped = false;
  const stopped = host.stop().then(() => (isStopped = true));
  await turn();
  assert.not.ok(isStopped);
  answer.resolve([]);
  await Promise.all([running, stopped]);
  assert.ok(host.reason() !== null, 'it has no catalog');
});

test.run();
