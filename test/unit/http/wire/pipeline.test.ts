/** spec 11.2, 11.5: the order of the requests of a connection, and how many are active. */
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type Handling,
  Pipeline,
  PIPELINED_A_TURN,
  PIPELINED_MS,
  type PipelineOptions,
  WAITING_BEYOND,
} from '../../../../src/http/wire/pipeline.ts';

/** A connection according to the rules: admitted requests that are not complete, in order. */
interface Model {
  queue: { readonly id: number; readonly handling: Handling }[];
  full: boolean;
  ignored: number;
}

/** A pipeline whose requests stand for their clients. */
function pipelineOf(
  limit: number,
  options: Partial<PipelineOptions<string>> = {},
): Pipeline<string> {
  return new Pipeline({
    limit,
    clientOf: (request) => request,
    onDeferredBegun: () => {},
    ...options,
  });
}

test('completing a request that was not admitted throws an error', () => {
  const pipeline = pipelineOf(1);
  const connection = {};
  assert.throws(() => pipeline.complete(connection), /completed twice/);
  pipeline.admit(connection, 'client', 0);
  pipeline.complete(connection);
  assert.throws(() => pipeline.complete(connection), /completed twice/);
  assert.is(pipeline.active, 0);
});

test('any sequence of requests and completions keeps the order, the limit and the count', async () => {
  const step = fc.record({
    connection: fc.integer({ min: 0, max: 2 }),
    complete: fc.boolean(),
  });
  const seen = new Set<string>();
  const property = fc.asyncProperty(
    fc.integer({ min: 0, max: 3 }),
    fc.array(step, { maxLength: 60 }),
    async (limit, steps) => {
      // Each piece of work has its own turn.
      const afterTurn = (work: () => void) => void Promise.resolve().then(work);
      const pipeline = pipelineOf(limit, { loop: { now: () => 0, afterTurn } });
      const connections = [{}, {}, {}];
      const models: Model[] = connections.map(() => ({ queue: [], full: false, ignored: 0 }));
      const begun: string[] = [];
      let requests = 0;
      for (const { connection: index, complete } of steps) {
        const connection = connections[index] ?? {};
        const model = models[index] as Model;
        if (complete) {
          if (model.queue.length === 0) continue;
          model.queue.shift();
          pipeline.complete(connection);
        } else {
          requests += 1;
          const id = requests;
          const admission = pipeline.admit(connection, 'client', 0);
          seen.add(admission.kind);
          if (model.full) {
            model.ignored += 1;
            assert.is(admission.kind, model.ignored > limit ? 'disconnect' : 'ignore');
          } else {
            assert.is(admission.kind, model.queue.length === 0 ? 'start' : 'wait');
            model.full = model.queue.length > limit;
            model.queue.push({ id, handling: model.full ? 'reject' : 'serve' });
            if (admission.kind === 'start') begun.push(`${id} serve`);
            if (admission.kind === 'wait') {
              void admission.handling.then((handling) => begun.push(`${id} ${handling}`));
            }
          }
        }
        await Promise.resolve();
        // Exactly the first request of each connection has begun, to be handled as expected.
        for (const { queue } of models) {
          for (const [position, { id, handling }] of queue.entries()) {
            assert.is(begun.includes(`${id} ${handling}`), position === 0);
          }
        }
        const active = models.reduce((sum, { queue }) => sum + queue.length, 0);
        assert.is(pipeline.active, active);
        let idle = false;
        void pipeline.idle().then(() => (idle = true));
        await Promise.resolve();
        assert.is(idle, active === 0);
      }
    },
  );
  // With a limit of 1: each kind of admission once, which random steps may leave out.
  const requests = Array.from({ length: 5 }, () => ({ connection: 0, complete: false }));
  await fc.assert(property, { numRuns: 500, examples: [[1, requests]] });
  assert.equal([...seen].sort(), ['disconnect', 'ignore', 'start', 'wait']);
});

test('each connection begins one request in a turn, and the number of further ones is limited', async () => {
  const now = 1000;
  const turns: (() => void)[] = [];
  const loop = { now: () => now, afterTurn: (work: () => void) => void turns.push(work) };
  const pipeline = pipelineOf(1000, { loop });
  const [greedy, other] = [{ name: 'greedy' }, { name: 'other' }];
  let begun = 0;
  const carryOut = () => {
    begun += 1;
    pipeline.complete(greedy);
  };
  const admit = (connection: object) => {
    const admission = pipeline.admit(connection, 'client', now);
    if (admission.kind === 'start') carryOut();
    else if (admission.kind === 'wait') void admission.handling.then(carryOut);
  };
  for (let each = 0; each < 100; each += 1) {
    admit(greedy);
    await Promise.resolve();
  }
  assert.is(begun, 1 + PIPELINED_A_TURN);
  assert.is(
    pipeline.admit(other, 'client', now).kind,
    'start',
    'another connection is not held up',
  );
  pipeline.complete(other);
  for (const expected of [66, 99, 100]) {
    assert.is(turns.length, 1);
    turns.shift()?.();
    for (let step = 0; step < 200; step += 1) await Promise.resolve();
    assert.is(begun, expected);
  }
  turns.shift()?.();
  assert.equal([turns.length, pipeline.active], [0, 0], 'nothing is left');
});

test('after five requests, a connection begins none later than 2 ms after the first one of the turn', async () => {
  const turns: (() => void)[] = [];
  let clock = 0;
  const loop = { now: () => clock, afterTurn: (work: () => void) => void turns.push(work) };
  const pipeline = pipelineOf(1000, { loop });
  const connection = {};
  let begun = 0;
  const carryOut = () => {
    begun += 1;
    clock += PIPELINED_MS;
    pipeline.complete(connection);
  };
  for (let each = 0; each < 12; each += 1) {
    const admission = pipeline.admit(connection, 'client', clock);
    if (admission.kind === 'start') carryOut();
    else if (admission.kind === 'wait') void admission.handling.then(carryOut);
  }
  const begunInTurns: number[] = [];
  for (;;) {
    for (let step = 0; step < 20; step += 1) await Promise.resolve();
    begunInTurns.push(begun);
    const end = turns.shift();
    if (end === undefined) break;
    end();
  }
  assert.equal(begunInTurns, [5, 10, 12, 12], 'one and PIPELINED_AT_LEAST more in each turn');
  assert.is(pipeline.active, 0);
});

test('while twice as many requests wait as may wait on a connection, only 4 may wait on each', async () => {
  const turns: (() => void)[] = [];
  const loop = { now: () => 0, afterTurn: (work: () => void) => void turns.push(work) };
  const limit = 100;
  const pipeline = pipelineOf(limit, { loop });
  const rejected: object[] = [];
  const readUntil = (end: 'ignore' | 'disconnect', connection: object): number => {
    for (let read = 1; ; read += 1) {
      const admission = pipeline.admit(connection, 'client', 0);
      if (admission.kind === end) return read;
      if (admission.kind !== 'wait') continue;
      void admission.handling.then((handling) => {
        if (handling === 'reject') rejected.push(connection);
      });
    }
  };
  // One is in progress, the limit waits, and one waits to be rejected; the next one is ignored.
  const usual = 1 + limit + 1 + 1;
  const [first, second, late] = [{}, {}, {}];
  assert.is(readUntil('ignore', first), usual);
  // The one to be rejected counts, so the second connection reaches the bound one earlier.
  assert.is(readUntil('ignore', second), usual - 1);
  const ignored = WAITING_BEYOND;
  assert.is(readUntil('disconnect', late), 1 + WAITING_BEYOND + 1 + ignored + 1);
  for (const each of [first, second, late]) {
    for (let waits = 0; waits < limit + 1; waits += 1) {
      if (rejected.includes(each)) break;
      pipeline.complete(each);
      turns.shift()?.();
      for (let step = 0; step < 4 * limit; step += 1) await Promise.resolve();
    }
  }
  assert.equal(rejected, [first, second, late], 'each gets an error after its responses');
  for (const each of rejected) pipeline.complete(each);
  assert.is(pipeline.active, 0);
  assert.is(readUntil('ignore', {}), usual, 'the limit is as before');
});

test('every call of idle() is resolved, once no request is active', async () => {
  const pipeline = pipelineOf(1);
  const connections = [{}, {}];
  for (const connection of connections) pipeline.admit(connection, 'client', 0);
  const activeAtIdle: number[] = [];
  const both = [1, 2].map(() => pipeline.idle().then(() => activeAtIdle.push(pipeline.active)));
  for (const connection of connections) {
    pipeline.complete(connection);
    await Promise.resolve();
  }
  await Promise.all(both);
  assert.equal(activeAtIdle, [0, 0]);
});

test.run();
