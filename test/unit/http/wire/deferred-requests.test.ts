/** spec 11.5: how many requests of different connections begin in one turn of the event loop. */
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type Admission,
  ARRIVALS_MS,
  COUNTED_MS,
  DEFERRED_MS,
  Pipeline,
  USUAL_MS,
} from '../../../../src/http/wire/pipeline.ts';
import { responsesIn } from '../../../support/raw.ts';
import { countingTurns } from '../../../support/turns.ts';
import { until } from '../../../support/until.ts';
import { staged } from '../../../support/wire.ts';

/** Longer than any chain of microtasks here. */
const MICROTASKS = 1000;

/** A request of a test: its name, its client, and the milliseconds that it takes at once. */
interface Sent {
  readonly name: string;
  readonly client: string;
  readonly takes: number;
}

/** A pipeline on a clock that only requests move, and what has begun. */
class Site {
  clock = 0;
  /** The names of the requests that have begun, in order. */
  readonly begun: string[] = [];
  /** Requests that are completed by the test. */
  readonly open = new Map<string, object>();
  readonly #turns: (() => void)[] = [];
  readonly pipeline = new Pipeline<Sent>({
    limit: 1000,
    clientOf: ({ client }) => client,
    onDeferredBegun: () => this.begun.push('|'),
    loop: { now: () => this.clock, afterTurn: (work) => void this.#turns.push(work) },
  });

  /** @param completes whether the request is completed at once. */
  send(connection: object, sent: Sent, completes = true): Admission['kind'] {
    const admission = this.pipeline.admit(connection, sent, this.clock);
    const carryOut = () => {
      this.begun.push(sent.name);
      this.clock += sent.takes;
      if (completes) this.pipeline.complete(connection);
      else this.open.set(sent.name, connection);
    };
    if (admission.kind === 'start') carryOut();
    else if (admission.kind === 'wait') void admission.handling.then(carryOut);
    return admission.kind;
  }

  complete(name: string): void {
    const connection = this.open.get(name);
    this.open.delete(name);
    if (connection !== undefined) this.pipeline.complete(connection);
  }

  /** Ends the turn. @returns what began in the next one; null if there is none. */
  async turn(): Promise<string | null> {
    const before = this.begun.length;
    const end = this.#turns.shift();
    if (end === undefined) return null;
    assert.equal(this.#turns, [], 'the end of a turn is scheduled once');
    end();
    for (let step = 0; step < MICROTASKS; step += 1) await Promise.resolve();
    return this.begun.slice(before).join(' ');
  }
}

/** Half of the time for requests that arrive in one turn. */
const LONG = ARRIVALS_MS / 2;

const from = (client: string, nth: number, takes = LONG): Sent => {
  return { name: `${client}${nth}`, client, takes };
};

test('long requests of many connections begin in several turns, in order', async () => {
  assert.is(DEFERRED_MS, ARRIVALS_MS);
  const site = new Site();
  const kinds = [1, 2, 3, 4, 5, 6, 7].map((nth) => site.send({}, from('a', nth)));
  assert.equal(kinds, ['start', 'start', 'start', 'wait', 'wait', 'wait', 'wait']);
  assert.is(await site.turn(), 'a4 a5 |');
  assert.is(await site.turn(), 'a6 a7 |');
  assert.is(await site.turn(), '');
  assert.is(await site.turn(), null);
  assert.is(site.pipeline.active, 0);
});

test('a deferred request that takes long is the only one of its turn', async () => {
  const site = new Site();
  for (let nth = 1; nth <= 4; nth += 1) site.send({}, from('a', nth, 10 * ARRIVALS_MS));
  assert.equal(site.begun, ['a1', 'a2'], 'the process may have been stopped during one of them');
  assert.is(await site.turn(), 'a3 |');
  assert.is(await site.turn(), 'a4 |');
});

test('one stop of the process, however long, defers no usual request', () => {
  assert.ok(COUNTED_MS < ARRIVALS_MS);
  const site = new Site();
  for (let nth = 1; nth <= 1000; nth += 1) {
    const takes = nth === 10 ? 1000 : 0.9 * USUAL_MS;
    assert.is(site.send({}, from('a', nth, takes)), 'start');
  }
});

test('usual requests all begin in the turn in which they arrive, however many there are', () => {
  const site = new Site();
  for (let nth = 1; nth <= 5000; nth += 1) {
    assert.is(site.send({}, from('a', nth, 0.9 * USUAL_MS)), 'start');
  }
});

test('a client with a deferred request waits for one request of each other client', async () => {
  const site = new Site();
  for (let nth = 1; nth <= 50; nth += 1) site.send({}, from('a', nth));
  site.send({}, from('b', 1));
  site.send({}, from('b', 2));
  site.send({}, from('c', 1));
  assert.equal(site.begun, ['a1', 'a2', 'a3']);
  assert.is(await site.turn(), 'a4 b1 |');
  assert.is(await site.turn(), 'c1 a5 |');
  assert.is(await site.turn(), 'b2 a6 |');
});

test('a request that arrives later does not wait for deferred ones', async () => {
  const site = new Site();
  for (let nth = 1; nth <= 50; nth += 1) site.send({}, from('a', nth));
  assert.is(await site.turn(), 'a4 a5 |');
  assert.is(site.send({}, from('a', 100)), 'start');
  assert.is(site.send({}, from('a', 101)), 'start');
  assert.is(site.send({}, from('a', 102)), 'start');
  assert.is(site.send({}, from('a', 103)), 'wait');
  assert.is(await site.turn(), 'a6 a7 |');
});

test('requests that waited for others of their connections are deferred as well', async () => {
  const site = new Site();
  const connections = [1, 2, 3, 4, 5, 6].map((nth) => ({ nth }));
  for (const connection of connections) {
    site.send(connection, from('w', connection.nth, 0), false);
    site.send(connection, from('a', connection.nth));
  }
  assert.is(await site.turn(), '', 'the first ones are in progress');
  // As after the commit of a group of writes: all are completed in one turn.
  for (const { nth } of connections) site.complete(`w${nth}`);
  for (let step = 0; step < MICROTASKS; step += 1) await Promise.resolve();
  assert.equal(
    site.begun.filter((name) => name.startsWith('a')),
    ['a1'],
  );
  assert.is(await site.turn(), 'a2 a3 |');
  assert.is(await site.turn(), 'a4 a5 |');
  assert.is(await site.turn(), 'a6 |');
});

test('any requests keep the order of their connection, and all are carried out', async () => {
  const step = fc.record({
    connection: fc.integer({ min: 0, max: 5 }),
    takes: fc.constantFrom(0, 1, 4, 30),
    completes: fc.boolean(),
    next: fc.constantFrom('send', 'complete', 'turn'),
  });
  const property = fc.asyncProperty(fc.array(step, { maxLength: 80 }), async (steps) => {
    const site = new Site();
    const connections = [0, 1, 2, 3, 4, 5].map((nth) => ({ nth }));
    const sent: string[][] = connections.map(() => []);
    for (const [nth, { connection, takes, completes, next }] of steps.entries()) {
      const name = `${connection}:${nth}`;
      sent[connection]?.push(name);
      const client = `client ${connection % 2}`;
      site.send(connections[connection] ?? {}, { name, client, takes }, completes);
      if (next === 'turn') await site.turn();
      if (next === 'complete') for (const open of site.open.keys()) site.complete(open);
      const inProgress = [...site.open.values()];
      assert.is(new Set(inProgress).size, inProgress.length, 'one at a time for each connection');
    }
    for (let rounds = 0; site.pipeline.active > 0; rounds += 1) {
      assert.ok(rounds < 10 * steps.length + 10, 'requests wait for ever');
      for (const open of site.open.keys()) site.complete(open);
      await site.turn();
    }
    for (const [nth, names] of sent.entries()) {
      assert.equal(
        site.begun.filter((name) => name.startsWith(`${nth}:`)),
        names,
      );
    }
    await site.pipeline.idle();
  });
  await fc.assert(property, { numRuns: 300 });
});

test('50 connections that request long work at the same time do not get it in one turn', () =>
  countingTurns(async (turns) => {
    const begun = new Map<number, number>();
    const application = () => {
      begun.set(turns(), (begun.get(turns()) ?? 0) + 1);
      for (const end = performance.now() + LONG; performance.now() < end; ) continue;
      return { status: 200, headers: {}, body: 'made' };
    };
    await staged(application, async (stage) => {
      const clients = Array.from({ length: 50 }, () => stage.connect());
      await until('all are connected', () => stage.server.connections === 50);
      for (const client of clients) client.send('GET /', ['Connection: close']);
      for (const client of clients) {
        const [response] = responsesIn(await client.end());
        assert.equal([response?.status, response?.body], [200, 'made']);
      }
    });
    // Three that arrive and two that were deferred, on both sides of the count of a turn.
    assert.ok(Math.max(...begun.values()) <= 10, [...begun.values()].join(' '));
  }));

test.run();
