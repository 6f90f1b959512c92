/** Which addresses count as one client. */
import { property, assert as assertProperty, ipV4, ipV6 } from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { networkOf } from '../../src/network.ts';

const NETWORKS: readonly (readonly [address: string, network: string])[] = [
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::FFFF:192.0.2.1', '192.0.2.1'],
  ['::ffff:c000:201', '192.0.2.1'],
  ['0:0:0:0:0:ffff:192.0.2.1', '192.0.2.1'],
  ['0000:0000:0000:0000:0000:ffff:c000:0201', '192.0.2.1'],
  ['::ffff:192.0.2.1%eth0', '192.0.2.1'],
  ['::ffff:0:192.0.2.1', '0:0:0:0::/64'],
  ['::ffff:999.0.2.1', '::ffff:999.0.2.1'],
  ['::1', '0:0:0:0::/64'],
  ['::', '0:0:0:0::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['2001:db8::ffff:1', '2001:db8:0:0::/64'],
  ['2001:0DB8:0001:0002:0003:0004:0005:0006', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::', '2001:db8:1:2::/64'],
  ['2001:db8:1:3::7', '2001:db8:1:3::/64'],
  ['1::2:3:4:5:6:7', '1:0:2:3::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['fe80::2%eth0', 'fe80:0:0:0::/64'],
  ['::1:2:3:4:192.0.2.1', '0:0:1:2::/64'],
  ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
  ['', ''],
  ['unix', 'unix'],
];

for (const [address, network] of NETWORKS) {
  test(`the network of "${address}" is "${network}"`, () => {
    assert.is(networkOf(address), network);
  });
}

test('the network of an IPv4 address is the address itself, mapped or not', () => {
  assertProperty(
    property(ipV4(), (address) => {
      assert.is(networkOf(address), address);
      assert.is(networkOf(`::ffff:${address}`), address);
      assert.is(networkOf(`::ffff:${address}%eth0`), address);
    }),
  );
});

test('IPv6 addresses that differ in the last 64 bits count as one network', () => {
  assertProperty(
    property(ipV6(), (address) => {
      const network = networkOf(address);
      // A mapped IPv4 address.
      if (!network.includes(':')) return;
      assert.match(network, /^[\da-f]{1,4}(?::[\da-f]{1,4}){3}::\/64$/, address);
      const prefix = network.slice(0, -'::/64'.length);
      assert.is(networkOf(`${prefix}:a:b:c:d`), network);
      assert.is(networkOf(`${prefix}::`), network);
    }),
  );
});

test.run();
