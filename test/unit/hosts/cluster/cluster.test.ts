/** A host's part in a cluster. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { messageOf } from '../../../../src/errors.ts';
import { parseLogAddress } from '../../../../src/hosts/cluster/address.ts';
import { Cluster } from '../../../../src/hosts/cluster/cluster.ts';

const OPTIONS = {
  address: parseLogAddress('etcd://127.0.0.1:1,127.0.0.1:2/shop'),
  certificates: {},
  login: null,
  timeoutMs: 1000,
  origin: null,
};

test('each process has a name of its own, with which it writes', () => {
  const names = Array.from({ length: 8 }, () => new Cluster(OPTIONS).shared.writer);
  assert.is(new Set(names).size, 8);
});

test('if no node answers at the start, the error lists the nodes and says what to check', async () => {
  const cluster = new Cluster(OPTIONS);
  const store = { sequence: 0, digest: '' };
  for (const call of [() => cluster.originOfHistory(), () => cluster.requireSameHistory(store)]) {
    const message = await call().then(String, messageOf);
    assert.match(
      message,
      /^the log at http:\/\/127\.0\.0\.1:1, http:\/\/127\.0\.0\.1:2 cannot be used /,
    );
    assert.match(
      message,
      /\(etcd does not answer: .*\); check that a majority of these nodes is running/,
    );
  }
  const later = await cluster.lastSequence().then(String, messageOf);
  assert.not.match(later, '127.0.0.1', 'clients may see it');
});

test.run();
