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

/** A host of a log that does not keep all change sets. @param cluster what the host asks. */
function clusterHost(cluster: Pick<Cluster, 'others'> & { readonly credentials?: () => object }) {
  const data = temporaryDirectory();
  const stopping = new AbortController();
  const warnings: string[] = [];
  const host = new ClusterHost(
    { originOfHistory: async () => null, ...cluster } as unknown as Cluster,
    {
      options: { data },
      context: { disk: quickDisk, env: {} },
      observability: { log: { warn: (message: string) => void warnings.push(message) } },
      stop: stopping.signal,
    } as unknown as HostParts,
  );
  return { host, data, stopping, warnings };
}

test('a host that cannot take a base says why', async () => {
  const { host, data } = clusterHost({ others: async () => [] });
  await host.begin();
  assert.is(host.reason(), 'this host is fetching a base from another host (0 %)');
  const lock = ownDirectory(data, 'serve');
  assert.is(await codeOf(host.run()), 'store_locked');
  lock.close();
});

test('a host that is stopped does not wait for a log that is silent, and takes no base', async () => {
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<[]>();
  const { host, stopping, warnings } = clusterHost({
    others() {
      asked.resolve();
      return answer.promise;
    },
  });
  await host.begin();
  const running = host.run();
  await asked.promise;
  stopping.abort();
  await running;
  answer.reject(new Error('no answer in 3000 ms'));
  await turn();
  assert.equal(warnings, []);
  assert.ok(host.reason() !== null, 'it has no catalog');
});

test('a host that is stopped while it reads the keys from a log that is silent asks no host for a base', async () => {
  const asked = Promise.withResolvers<void>();
  const origin = 'http://127.0.0.1:1';
  const peer = { name: 'a', origin, sequence: 7, baseBytes: 0, isInSync: true };
  const pull = () => {
    asked.resolve();
    return new Promise(() => {});
  };
  const { host, stopping, warnings } = clusterHost({
    others: async () => [peer],
    credentials: () => ({ pull }),
  });
  await host.begin();
  const running = host.run();
  await asked.promise;
  stopping.abort();
  await running;
  assert.equal(warnings, []);
  assert.ok(host.reason() !== null, 'it has no catalog');
});

test.run();
