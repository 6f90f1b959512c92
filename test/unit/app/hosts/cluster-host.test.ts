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

/** A host of a log that does not keep all change sets. @param others gives the other hosts. */
function clusterHost(others: () => Promise<[]>) {
  const data = temporaryDirectory();
  const stopping = new AbortController();
  const warnings: string[] = [];
  const host = new ClusterHost(
    { originOfHistory: async () => null, others } as unknown as Cluster,
    {
      options: { data },
      context: { disk: quickDisk },
      observability: { log: { warn: (message: string) => void warnings.push(message) } },
      stop: stopping.signal,
    } as unknown as HostParts,
  );
  return { host, data, stopping, warnings };
}

test('a host that cannot take a base says why', async () => {
  const { host, data } = clusterHost(async () => []);
  await host.begin();
  assert.is(host.reason(), 'this host is fetching a base from another host (0 %)');
  const lock = ownDirectory(data, 'serve');
  assert.is(await codeOf(host.run()), 'store_locked');
  lock.close();
});

test('a host that is stopped does not wait for a log that is silent, and takes no base', async () => {
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<[]>();
  const { host, stopping, warnings } = clusterHost(() => {
    asked.resolve();
    return answer.promise;
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

test.run();
