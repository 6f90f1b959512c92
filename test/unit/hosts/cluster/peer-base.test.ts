/** spec 15.24: a new host fetches its base from another host, or the next one if that fails. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CatalogError } from '../../../../src/errors.ts';
import { baseOfPeers, type Peer } from '../../../../src/hosts/cluster/peer-base.ts';
import type { LiveHost } from '../../../../src/hosts/cluster/registry.ts';
import { StreamEnded } from '../../../../src/hosts/following/primary-client.ts';
import type { ReceivedBase } from '../../../../src/store/hosts/install-base.ts';
import { failureMessage } from '../../../support/failure.ts';
import { turn } from '../../../support/turns.ts';

const host = (name: string, sequence: number, origin: string | null = `https://${name}`) =>
  ({ name, origin, sequence, baseBytes: 0, isInSync: true }) satisfies LiveHost;

/** A host that joins the hosts that the test sets. */
function join(rounds: number | 'default' = 3) {
  const ending = new AbortController();
  const seen = { asked: [] as string[], abandoned: [] as number[], warnings: [] as string[] };
  const world = {
    /** The hosts in each round; the last ones stay. */
    hosts: [[]] as (readonly LiveHost[])[],
    take: async (peer: Peer): Promise<number> => peer.sequence,
    verify: async (_sequence: number): Promise<void> => {},
    pauses: 0,
    /** Rounds in which the hosts cannot be read. */
    silent: 0,
  };
  const run = () =>
    baseOfPeers({
      async others() {
        if (world.silent > 0) {
          world.silent -= 1;
          throw new CatalogError('log_unavailable', 'etcd does not answer');
        }
        const [now = []] = world.hosts;
        if (world.hosts.length > 1) world.hosts.shift();
        return now;
      },
      async take(peer) {
        seen.asked.push(peer.name);
        const sequence = await world.take(peer);
        return {
          sequence,
          digest: 'd'.repeat(64),
          install: async () => {},
          async abandon() {
            await turn();
            seen.abandoned.push(sequence);
          },
        } satisfies ReceivedBase;
      },
      verify: ({ sequence }) => world.verify(sequence),
      log: { warn: (message) => void seen.warnings.push(message) },
      backoff: { delay: () => ((world.pauses += 1), 0) },
      signal: ending.signal,
      ...(rounds !== 'default' && { rounds }),
    });
  return { run, seen, world, end: () => ending.abort() };
}

test('the base is fetched from the furthest host that has an address', async () => {
  const { run, seen, world } = join();
  world.hosts = [[host('a', 7), host('b', 9), host('c', 11, null)]];
  assert.is((await run())?.sequence, 9);
  assert.equal(seen.asked, ['b']);
  assert.equal(seen.warnings, []);
});

test('if a host fails to send a base, the next one is asked', async () => {
  const { run, seen, world } = join();
  world.hosts = [[host('a', 7), host('b', 9)]];
  world.take = async ({ name, sequence }) => {
    if (name === 'b') throw new Error('https://b has gone silent');
    return sequence;
  };
  assert.is((await run())?.sequence, 7);
  assert.equal(seen.asked, ['b', 'a']);
  assert.equal(seen.warnings, ['no base yet: https://b has gone silent']);
});

test('a base that does not belong to the log is removed, and the next host is asked', async () => {
  const { run, seen, world } = join();
  world.hosts = [[host('a', 7), host('b', 9)]];
  world.verify = async (sequence) => {
    if (sequence === 9) throw new CatalogError('history_differs', 'another history');
  };
  const before: number[][] = [];
  world.take = async ({ sequence }) => {
    before.push([...seen.abandoned]);
    return sequence;
  };
  assert.is((await run())?.sequence, 7);
  assert.equal(before, [[], [9]], 'there may be no room for two');
  assert.equal(seen.abandoned, [9]);
});

test('hosts that report later are asked too', async () => {
  const { run, seen, world } = join();
  world.hosts = [[], [], [host('a', 7)]];
  assert.is((await run())?.sequence, 7);
  assert.equal(seen.warnings, ['no base yet: no other host with --advertise has reported yet']);
  assert.is(world.pauses, 2);
});

test('hosts are looked for again if the log does not answer, and that is reported once', async () => {
  const { run, seen, world } = join();
  world.hosts = [[host('a', 7)]];
  world.silent = 2;
  assert.is((await run())?.sequence, 7);
  assert.equal(seen.warnings, ['no base yet: etcd does not answer']);
  assert.is(world.pauses, 2);
});

test('after the last round the error gives the reason and says what to do', async () => {
  const { run, seen, world } = join(4);
  world.hosts = [[host('a', 7)]];
  world.take = async () => {
    throw new Error('https://a answered 503');
  };
  const message = await failureMessage(run(), 'store_missing');
  assert.match(message, /https:\/\/a answered 503\); start another host .* restore/);
  assert.is(seen.asked.length, 4);
  assert.is(world.pauses, 3);
  assert.is(seen.warnings.length, 1, 'the same trouble is reported once');
});

test('if the log does not answer, the host is asked again', async () => {
  const { run, seen, world } = join();
  world.hosts = [[host('a', 7)]];
  let isSilent = true;
  world.verify = async () => {
    if (isSilent) {
      isSilent = false;
      throw new CatalogError('log_unavailable', 'etcd does not answer');
    }
  };
  assert.is((await run())?.sequence, 7);
  assert.equal(seen.asked, ['a', 'a']);
});

test('a host that is stopped while it looks for the others asks none of them', async () => {
  const { run, seen, world, end } = join();
  world.hosts = [[host('a', 7)]];
  const running = run();
  end();
  assert.is(await running, null);
  assert.equal(seen.asked, []);
});

test('a host that is stopped gets no base and reports no error', async () => {
  const { run, seen, world, end } = join();
  world.hosts = [[host('a', 7), host('b', 6)]];
  world.take = async () => {
    end();
    throw new StreamEnded('the connection was ended');
  };
  assert.is(await run(), null);
  assert.equal(seen, { asked: ['a'], abandoned: [], warnings: [] });
});

test('a host that is stopped while a silent log is asked about a base removes the base, and waits no longer', async () => {
  const { run, seen, world, end } = join();
  world.hosts = [[host('a', 7), host('b', 6)]];
  world.verify = () => {
    setImmediate(end);
    return new Promise(() => {});
  };
  assert.is(await run(), null);
  assert.equal(seen, { asked: ['a'], abandoned: [7], warnings: [] });
});

test('a host that is stopped in the last round does not report that no other host gives a base', async () => {
  const { run, world, end } = join(1);
  world.hosts = [[host('a', 7)]];
  const running = run();
  end();
  assert.is(await running, null);
});

test('the hosts are asked in 60 rounds', async () => {
  const { run, world } = join('default');
  assert.match(await failureMessage(run(), 'store_missing'), 'no other host with --advertise');
  assert.is(world.pauses, 59);
});

test.run();
