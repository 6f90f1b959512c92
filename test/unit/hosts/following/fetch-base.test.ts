/** How a host gets a base from a primary that is not always there (spec 15.10, 15.13, 15.14). */
import { readdirSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { pause } from '../../../../src/delay.ts';
import { TEMPORARY } from '../../../../src/disk/durable-file.ts';
import { fetchBase } from '../../../../src/hosts/following/fetch-base.ts';
import { FollowingLog } from '../../../../src/hosts/following/following-log.ts';
import type { FollowerState } from '../../../../src/hosts/following/lineage.ts';
import { StreamEnded } from '../../../../src/hosts/following/primary-client.ts';
import type { HostState } from '../../../../src/http/services.ts';
import { baseSlices } from '../../../../src/store/files/base.ts';
import {
  firstRecord,
  followerRecord,
  readHostRecord,
} from '../../../../src/store/hosts/host-record.ts';
import { temporaryDirectory } from '../../../support/directory.ts';
import { quickDisk } from '../../../support/disk.ts';
import { stateOfPrimary } from '../../../support/host-state.ts';
import { openQuickStore } from '../../../support/quick-store.ts';

const ADDRESS = 'https://primary';

/** A primary that gives a base, and a host with an empty directory. */
async function hosts() {
  const source = await openQuickStore(temporaryDirectory());
  const directory = temporaryDirectory();
  const lineage = firstRecord();
  const steps: string[] = [];
  const warnings: string[] = [];
  const stopping = new AbortController();
  const { signal } = stopping;
  /** What the primary answers, one for each time; then that it is the primary. */
  const answers: (Partial<HostState> | Error)[] = [];
  const own: { state: FollowerState } = { state: { record: null, at: null, secret: null } };
  const sent = Promise.withResolvers<void>();
  const settings = { isStalling: false };
  const fetched = () =>
    fetchBase({
      primary: {
        address: ADDRESS,
        async state() {
          steps.push('state');
          const answer = answers.shift();
          if (answer instanceof Error) throw answer;
          return { ...stateOfPrimary(lineage, source), ...answer };
        },
        async credentials() {
          steps.push('credentials');
          const files = { keys: null, access: null, webhook_key: null };
          return { digest: 'c'.repeat(64), files };
        },
        async *base() {
          steps.push(readHostRecord(quickDisk, directory)?.role ?? 'no record');
          yield* baseSlices(source.snapshot());
          sent.resolve();
          if (!settings.isStalling) return;
          await pause(Number.POSITIVE_INFINITY, signal);
          throw new StreamEnded('the connection was ended');
        },
      },
      disk: quickDisk,
      directory,
      own: () => own.state,
      log: new FollowingLog({ info() {}, warn: (message) => void warnings.push(message) }),
      signal,
      backoff: {
        delay() {
          steps.push('pause');
          return 0;
        },
      },
    });
  const temporaries = () => readdirSync(directory).filter((name) => TEMPORARY.test(name));
  const end = () => source.close();
  return {
    fetched,
    lineage,
    source,
    steps,
    warnings,
    answers,
    own,
    settings,
    stopping,
    sent: sent.promise,
    temporaries,
    end,
  };
}

test('a directory without a store is that of a follower, with its keys, before the base comes', async () => {
  const { fetched, steps, source, temporaries, end } = await hosts();
  const base = await fetched();
  assert.equal(steps, ['state', 'credentials', 'follower']);
  assert.is(base?.digest, source.digest);
  assert.is(temporaries().length, 1, 'it is not in its place yet');
  await base?.abandon();
  assert.equal(temporaries(), []);
  await end();
});

test('a host with a store keeps its record and its keys until it follows', async () => {
  const { fetched, steps, lineage, source, own, end } = await hosts();
  const { sequence, digest } = source;
  own.state = {
    record: followerRecord(ADDRESS, lineage),
    at: { sequence, digest },
    secret: null,
  };
  await (await fetched())?.abandon();
  assert.equal(steps, ['state', 'no record']);
  await end();
});

test('a primary that fails, or that this host may not follow, is asked again, and judged again', async () => {
  const { fetched, steps, answers, warnings, end } = await hosts();
  answers.push(new Error('it is down'), new Error('it is down'), { role: 'succeeded' });
  await (await fetched())?.abandon();
  const attempt = ['state', 'pause'];
  assert.equal(steps, [...attempt, ...attempt, ...attempt, 'state', 'credentials', 'follower']);
  assert.equal(warnings, [
    'no base yet: it is down',
    `no base yet: ${ADDRESS} is not the primary any more; follow the one that is`,
  ]);
  await end();
});

test('a signal ends a transfer, which leaves nothing behind and is not reported', async () => {
  const { fetched, settings, stopping, sent, steps, warnings, temporaries, end } = await hosts();
  settings.isStalling = true;
  const base = fetched();
  await sent;
  assert.is(temporaries().length, 1);
  stopping.abort();
  assert.is(await base, null);
  assert.equal(temporaries(), []);
  assert.equal(warnings, []);
  assert.is(await fetched(), null);
  assert.equal(steps, ['state', 'credentials', 'follower'], 'nothing is asked after the signal');
  await end();
});

test.run();
