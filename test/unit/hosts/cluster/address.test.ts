/** spec 15.20: the address of a log, and when etcd is reached without TLS. */
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  endpointsOf,
  formatLogAddress,
  parseLogAddress,
} from '../../../../src/hosts/cluster/address.ts';

test('an address is parsed into its nodes and its prefix', () => {
  assert.equal(parseLogAddress('etcd://a:2379,10.0.0.2:2379,[::1]:2379/shop'), {
    nodes: ['a:2379', '10.0.0.2:2379', '[::1]:2379'],
    prefix: '/shop/',
  });
  assert.is(parseLogAddress('etcd://a:1/shop/north/').prefix, '/shop/north/');
});

test('a malformed address is refused', () => {
  const wrong = [
    ['', 'etcd://', 'etcd://a:2379', 'etcd://a:2379/', 'etcd:///shop', 'http://a:2379/shop'],
    ['etcd://a/shop', 'etcd://a:0/shop', 'etcd://a:65536/shop', 'etcd://a:1,/shop'],
    ['etcd://user:word@a:1/shop', 'etcd://a:1/shop?x', 'etcd://a:1/shop#x', 'etcd://a:1/a//b'],
  ].flat();
  const nodes = (count: number) => Array.from({ length: count }, (_, nth) => `n${nth}:1`).join(',');
  wrong.push(`etcd://${nodes(17)}/shop`);
  assert.is(parseLogAddress(`etcd://${nodes(16)}/shop`).nodes.length, 16);
  for (const text of wrong) assert.throws(() => parseLogAddress(text), /Give the nodes/, text);
});

test('an address that was formatted and parsed again is the same', () => {
  const name = fc.stringMatching(/^[a-z][a-z0-9.-]{0,8}$/);
  const node = fc.tuple(name, fc.integer({ min: 1, max: 65_535 })).map((each) => each.join(':'));
  const nodes = fc.array(node, { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(nodes, name, (each, prefix) => {
      const address = { nodes: each, prefix: `/${prefix}/` };
      assert.equal(parseLogAddress(formatLogAddress(address)), address);
    }),
  );
});

test('TLS is used unless every node is local and no certificate is given', () => {
  const schemeOf = (text: string, certificates = {}) =>
    endpointsOf(parseLogAddress(text), certificates).endpoints.map((each) => each.split(':')[0]);
  assert.equal(schemeOf('etcd://127.0.0.1:1,localhost:2/x'), ['http', 'http']);
  assert.equal(schemeOf('etcd://127.0.0.1:1/x', { ca: 'PEM' }), ['https']);
  assert.equal(schemeOf('etcd://127.0.0.1:1/x', { cert: 'PEM', key: 'PEM' }), ['https']);
  assert.equal(schemeOf('etcd://127.0.0.1:1,b:2/x'), ['https', 'https']);
  assert.equal(schemeOf('etcd://127.0.0.1.example:1/x'), ['https']);
});

test.run();
