/** spec 15.13: the stream of change sets while the primary is busy with one; how many are open. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { hasCode } from '../../../../src/errors.ts';
import { WatchedCredentialFiles } from '../../../../src/auth/sharing/credential-files.ts';
import { HostRole } from '../../../../src/hosts/primary/host-role.ts';
import { Hosts } from '../../../../src/hosts/primary/host-service.ts';
import type { EncodedChangeSet } from '../../../../src/store/change-set.ts';
import { temporaryDirectory } from '../../../support/directory.ts';
import { quickDisk } from '../../../support/disk.ts';
import { turn } from '../../../support/turns.ts';

const BYTES = Buffer.from('{"sequence":1}\n');

/** The stream of a primary that has `count` change sets, of which the first is read in `read`. */
function streamOf(read: () => Promise<void>, { count = 1, isAllowed = async () => true } = {}) {
  const directory = temporaryDirectory();
  const store = {
    sequence: count,
    digest: 'd'.repeat(64),
    size: { base: 0 },
    oldest: 0,
    snapshot: () => assert.unreachable(),
    refuseWrites() {},
    async *encodedSince() {
      await read();
      for (let sequence = 1; sequence <= count; sequence += 1) {
        yield { changeSet: { sequence }, bytes: BYTES } as unknown as EncodedChangeSet;
      }
    },
  };
  const hosts = new Hosts({
    store: store as unknown as ConstructorParameters<typeof Hosts>[0]['store'],
    role: new HostRole({ disk: quickDisk, directory, store, follows: false, onSucceeded() {} }),
    files: new WatchedCredentialFiles(directory, false),
    secret: null,
    arrivals: { closed: false, past: async () => false },
    givesCredentials: false,
    emptyLineMs: 1,
  });
  return { hosts, pieces: hosts.changes(0, isAllowed)[Symbol.asyncIterator]() };
}

test('while a change set is read, empty lines are sent; then it is sent whole', async () => {
  const { promise: isRead, resolve } = Promise.withResolvers<void>();
  const { pieces } = streamOf(() => isRead);
  for (let line = 0; line < 3; line += 1) assert.is((await pieces.next()).value, '\n');
  resolve();
  let { value } = await pieces.next();
  while (value === '\n') ({ value } = await pieces.next());
  assert.equal(Buffer.from(value), BYTES);
  await pieces.return?.();
});

test('a stream whose follower has disconnected is over, although a change set is being read', async () => {
  const { hosts, pieces } = streamOf(() => new Promise(() => {}));
  await pieces.next();
  await pieces.next();
  assert.is(hosts.followers, 1);
  await pieces.return?.();
  assert.is(hosts.followers, 0);
});

test('a stream whose token is revoked ends, also if its follower is always behind', async () => {
  let verifications = 0;
  const { pieces } = streamOf(async () => {}, {
    count: Number.MAX_SAFE_INTEGER,
    isAllowed: async () => (verifications += 1) < 3,
  });
  let sent = 0;
  while (sent < 200_000 && (await pieces.next()).done !== true) sent += 1;
  assert.is(verifications, 3);
  await pieces.return?.();
});

test('streams read one change set at a time, because a decoded one takes far more than its bytes', async () => {
  let [reading, most] = [0, 0];
  const { hosts, pieces } = streamOf(async () => {
    reading += 1;
    most = Math.max(most, reading);
    for (let turns = 0; turns < 5; turns += 1) await turn();
    reading -= 1;
  });
  const others = [1, 2, 3].map(() => hosts.changes(0, async () => true)[Symbol.asyncIterator]());
  const streams = [pieces, ...others];
  const firstOf = async (stream: typeof pieces) => {
    let { value } = await stream.next();
    while (value === '\n') ({ value } = await stream.next());
    return value;
  };
  assert.equal(await Promise.all(streams.map(firstOf)), [BYTES, BYTES, BYTES, BYTES]);
  assert.is(most, 1);
  for (const stream of streams) await stream.return?.();
});

test('responses count before they are read, because many may be asked for at once', async () => {
  const { hosts, pieces } = streamOf(() => new Promise(() => {}));
  const kinds = [
    // One of the streams is open already.
    { most: 31, open: () => hosts.changes(1, async () => true) },
    { most: 2, open: () => hosts.base() },
  ];
  for (const { most, open } of kinds) {
    const bodies = Array.from({ length: most }, open);
    const isBusy = (error: Error) => hasCode(error, 'busy');
    assert.throws(open, isBusy);
    // The response to HEAD is closed without having been read.
    for (const body of bodies) await body[Symbol.asyncIterator]().return?.();
    await open()[Symbol.asyncIterator]().return?.();
  }
  await pieces.return?.();
  assert.is(hosts.followers, 0);
});

test.run();
