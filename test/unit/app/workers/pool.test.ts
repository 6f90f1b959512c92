/** spec 15.18: writes wait for the workers that serve, and a worker that ends is replaced. */
import { setTimeout as pause } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Backoff } from '../../../../src/backoff.ts';
import { messageOf } from '../../../../src/errors.ts';
import type { WorkerPort } from '../../../../src/app/workers/member.ts';
import type { FromWorker, ToWorker } from '../../../../src/app/workers/messages.ts';
import { type ProcessFigures, ProcessMetrics } from '../../../../src/telemetry/process-metrics.ts';
import { WorkerPool } from '../../../../src/app/workers/pool.ts';
import { failureOf } from '../../../support/failure.ts';
import { turn } from '../../../support/turns.ts';
import { until } from '../../../support/until.ts';

/** A worker that the test controls. */
class FakeWorker implements WorkerPort {
  readonly received: ToWorker[] = [];
  #onMessage: (message: FromWorker) => void = () => {};
  #onExit: (how: string) => void = () => {};
  isKilled = false;

  send(message: ToWorker): void {
    this.received.push(message);
    if (message.kind === 'close') this.end('status 0');
  }

  kill(): void {
    this.isKilled = true;
    this.end('SIGKILL');
  }

  onMessage(listener: (message: FromWorker) => void): void {
    this.#onMessage = listener;
  }

  onExit(listener: (how: string) => void): void {
    this.#onExit = listener;
  }

  say(message: FromWorker): void {
    this.#onMessage(message);
  }

  end(how: string): void {
    const onExit = this.#onExit;
    this.#onExit = () => {};
    onExit(how);
  }

  /** Becomes a member with all change sets up to one, and listens. */
  join(sequence: number): void {
    this.say({ kind: 'applied', sequence });
    this.say({ kind: 'listening', url: 'http://127.0.0.1:8000' });
  }
}

function scene(count: number, sequence = 0) {
  const started: FakeWorker[] = [];
  const ports: number[] = [];
  const warnings: string[] = [];
  // The machine has been up for a while.
  const clock = { now: 86_400_000 };
  const checks: (() => void)[] = [];
  const pool = new WorkerPool({
    count,
    start(port) {
      const worker = new FakeWorker();
      started.push(worker);
      ports.push(port);
      return worker;
    },
    state: () => ({ sequence, oldest: Math.max(0, sequence - 500) }),
    log: { warn: (message) => warnings.push(message) },
    now: () => clock.now,
    regularly(check) {
      checks.push(check);
      return () => checks.splice(0);
    },
    backoff: () => new Backoff(() => 0),
  });
  const worker = (nth: number): FakeWorker => {
    const found = started[nth];
    if (found === undefined) throw new Error(`no worker ${nth} was started`);
    return found;
  };
  /** Time passes while the process runs, or is paused; then the pool checks its workers. */
  const pass = (milliseconds: number) => {
    clock.now += milliseconds;
    for (const check of checks) check();
  };
  return { pool, started, ports, worker, warnings, checks, pass };
}

/** Whether a promise is settled after pending callbacks have run. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  void promise.then(() => (settled = true));
  await turn();
  return settled;
}

test('the pool is open once all workers listen', async () => {
  const { pool, worker } = scene(2);
  assert.is(pool.reason(), 'no worker is ready');
  const opened = pool.open(8000);
  worker(0).join(0);
  assert.not.ok(await isSettled(opened));
  worker(1).join(0);
  assert.is(await opened, 'http://127.0.0.1:8000');
  assert.is(pool.serving, 2);
  await pool.close(0);
});

test('a worker that cannot listen fails the start with its error, and none replaces it', async () => {
  const { pool, worker, started } = scene(2);
  const opened = pool.open(8000);
  worker(0).join(0);
  worker(1).say({ kind: 'failed', code: 'listen', message: 'port 8000 is in use' });
  worker(1).end('status 1');
  const { code, message } = await failureOf(opened);
  assert.is(code, 'listen');
  assert.is(message, 'port 8000 is in use');
  await pool.close(0);
  assert.equal(worker(0).received.at(-1), { kind: 'close' });
  assert.is(started.length, 2);
});

test('workers that are reading the state end at once if the start is stopped, and no other begins', async () => {
  const { pool, worker, started } = scene(2);
  const opened = pool.open(8000);
  await pool.close(3_600_000);
  assert.ok(worker(0).isKilled);
  assert.ok(worker(1).isKilled);
  assert.match(await opened.catch(messageOf), 'SIGKILL');
  assert.is(await pool.open(8000).catch(messageOf), 'the pool is closed');
  assert.is(started.length, 2);
});

test('a write waits until every worker has applied it', async () => {
  const { pool, worker } = scene(2);
  const opened = pool.open(8000);
  worker(0).join(0);
  worker(1).join(0);
  await opened;
  const reached = pool.reach(1);
  assert.is(pool.sequence, 1, 'it is durable');
  assert.equal(worker(0).received.at(-1), {
    kind: 'state',
    sequence: 1,
    oldest: 0,
    isMember: true,
  });
  worker(0).say({ kind: 'applied', sequence: 1 });
  assert.not.ok(await isSettled(reached), 'the other one does not show it yet');
  worker(1).say({ kind: 'applied', sequence: 1 });
  await reached;
  await pool.close(0);
});

test('a write waits until a worker shows it, although the worker reports earlier ones', async () => {
  const { pool, worker } = scene(1);
  const opened = pool.open(8000);
  worker(0).join(0);
  await opened;
  const [first, second] = [pool.reach(1), pool.reach(2)];
  worker(0).say({ kind: 'applied', sequence: 1 });
  await first;
  assert.not.ok(await isSettled(second));
  worker(0).say({ kind: 'applied', sequence: 2 });
  await second;
  await pool.close(0);
});

test('a write does not wait for a worker that has read it from the files before', async () => {
  const { pool, worker } = scene(1);
  const opened = pool.open(8000);
  worker(0).join(1);
  await opened;
  const sent = worker(0).received.length;
  await pool.reach(1);
  assert.is(worker(0).received.length, sent);
  await pool.close(0);
});

test('writes wait for a worker that serves, however far it has fallen behind', async () => {
  const { pool, worker } = scene(1);
  const opened = pool.open(8000);
  worker(0).join(0);
  await opened;
  void pool.reach(1000);
  const sent = worker(0).received.length;
  worker(0).say({ kind: 'applied', sequence: 1 });
  assert.is(worker(0).received.length, sent, 'it knows how far it has to read');
  const reached = pool.reach(1001);
  assert.not.ok(await isSettled(reached));
  worker(0).say({ kind: 'applied', sequence: 1001 });
  await reached;
  await pool.close(0);
});

test('writes wait for a worker only once it has nearly caught up', async () => {
  const { pool, worker } = scene(1, 1000);
  const opened = pool.open(8000);
  worker(0).say({ kind: 'applied', sequence: 10 });
  const far = { kind: 'state', sequence: 1000, oldest: 500, isMember: false } as const;
  assert.equal(worker(0).received, [far]);
  await pool.reach(1001);
  worker(0).say({ kind: 'applied', sequence: 936 });
  assert.equal(worker(0).received.at(-1), { ...far, sequence: 1001 }, 'it lacks 65 change sets');
  worker(0).say({ kind: 'applied', sequence: 937 });
  assert.equal(worker(0).received.at(-1), { ...far, sequence: 1001, isMember: true });
  const reached = pool.reach(1002);
  assert.not.ok(await isSettled(reached), 'from now on writes wait for it');
  worker(0).say({ kind: 'applied', sequence: 1002 });
  await reached;
  worker(0).say({ kind: 'listening', url: 'http://127.0.0.1:8000' });
  await opened;
  await pool.close(0);
});

test('writes do not wait for a worker that has exited, and another one replaces it', async () => {
  const { pool, started, ports, worker, warnings } = scene(1);
  const opened = pool.open(8000);
  worker(0).join(0);
  await opened;
  const reached = pool.reach(1);
  worker(0).end('SIGSEGV');
  await Promise.all([reached, pool.reach(2)]);
  assert.is(pool.reason(), 'no worker is ready');
  await until('another worker is started', () => started.length === 2);
  assert.is(pool.reason(), 'no worker is ready', 'it does not listen yet');
  assert.match(warnings.join(), /a worker ended \(SIGSEGV\)/);
  assert.equal(ports, [8000, 8000]);
  worker(1).join(2);
  await until('its replacement is logged as well', () => /has replaced/.test(warnings.join()));
  assert.is(pool.serving, 1);
  assert.is(pool.reason(), null);
  await pool.close(0);
});

test('why a replacement cannot serve is logged, and another one replaces it', async () => {
  const { pool, started, worker, warnings } = scene(1);
  const opened = pool.open(8000);
  worker(0).join(0);
  await opened;
  worker(0).end('SIGKILL');
  await until('another worker is started', () => started.length === 2);
  worker(1).say({ kind: 'failed', code: 'store_unreadable', message: 'EMFILE' });
  worker(1).end('status 1');
  await until('yet another one is started', () => started.length === 3);
  assert.equal(warnings.slice(1).sort(), [
    'a worker cannot serve: EMFILE',
    'a worker ended (EMFILE); another one is started in 100 ms',
  ]);
  await pool.close(0);
});

test('a worker that shows no sign of life for 5 seconds is killed, so that writes continue', async () => {
  const { pool, worker, warnings, pass } = scene(2);
  const opened = pool.open(8000);
  worker(0).join(0);
  worker(1).join(0);
  await opened;
  const reached = pool.reach(1);
  worker(0).say({ kind: 'applied', sequence: 1 });
  for (let second = 1; second <= 5; second += 1) {
    worker(0).say({ kind: 'alive' });
    pass(1000);
  }
  assert.not.ok(worker(1).isKilled, 'not before its time');
  assert.equal(warnings, []);
  worker(0).say({ kind: 'alive' });
  pass(1000);
  await reached;
  assert.ok(worker(1).isKilled);
  assert.not.ok(worker(0).isKilled);
  assert.is(warnings.filter((each) => each === 'a worker did not answer and was killed').length, 1);
  await pool.close(0);
});

test('after a pause of the owner no worker is killed, because their messages are not read yet', async () => {
  const { pool, worker, pass } = scene(1);
  const opened = pool.open(8000);
  worker(0).join(0);
  await opened;
  const reached = pool.reach(1);
  pass(1000);
  pass(3_600_000);
  assert.not.ok(worker(0).isKilled);
  worker(0).say({ kind: 'applied', sequence: 1 });
  await reached;
  await pool.close(0);
});

test('a worker that is alive but does not apply a write within 30 seconds is killed', async () => {
  const { pool, worker, pass } = scene(1);
  const opened = pool.open(8000);
  worker(0).join(0);
  await opened;
  const first = pool.reach(1);
  // Signs of life alone do not answer the write.
  const living = (seconds: number) => {
    for (let second = 0; second < seconds; second += 1) {
      worker(0).say({ kind: 'alive' });
      pass(1000);
    }
  };
  living(20);
  const second = pool.reach(2);
  living(10);
  assert.not.ok(worker(0).isKilled, 'not before its time');
  living(1);
  await Promise.all([first, second]);
  assert.ok(worker(0).isKilled);
  await pool.close(0);
});

test('a worker is not killed for a write that it has applied long ago', async () => {
  const { pool, worker, pass } = scene(1);
  const opened = pool.open(8000);
  worker(0).join(0);
  await opened;
  const reached = pool.reach(1);
  worker(0).say({ kind: 'applied', sequence: 1 });
  await reached;
  for (let second = 0; second < 40; second += 1) {
    worker(0).say({ kind: 'alive' });
    pass(1000);
  }
  assert.not.ok(worker(0).isKilled);
  await pool.close(0);
});

test('a stuck worker does not hold up a write until the end of the grace when the server stops', async () => {
  const { pool, worker, pass } = scene(1);
  const opened = pool.open(8000);
  worker(0).join(0);
  await opened;
  const reached = pool.reach(1);
  worker(0).send = () => {};
  const closed = pool.close(3_600_000);
  for (let second = 0; second < 6; second += 1) pass(1000);
  assert.ok(worker(0).isKilled);
  await reached;
  await closed;
});

test('a worker may take up to five minutes to read the state before it reports', async () => {
  const { pool, worker, pass } = scene(1);
  const opened = pool.open(8000);
  for (let second = 1; second <= 300; second += 1) pass(1000);
  assert.not.ok(worker(0).isKilled, 'not before its time');
  pass(1000);
  assert.ok(worker(0).isKilled);
  const error = await opened.catch((failure: unknown) => failure);
  assert.is(messageOf(error), 'a worker ended before it served: SIGKILL');
});

test('the delay before a worker is replaced grows, until one has served for a minute', async () => {
  const { pool, worker, warnings, pass, started } = scene(1);
  const opened = pool.open(8000);
  worker(0).join(0);
  await opened;
  const end = async (nth: number) => {
    worker(nth).end('SIGSEGV');
    await until('another worker is started', () => started.length === nth + 2);
    worker(nth + 1).join(0);
  };
  await end(0);
  await end(1);
  for (let second = 0; second <= 60; second += 1) {
    worker(2).say({ kind: 'alive' });
    pass(1000);
  }
  await end(2);
  const delays = warnings.flatMap((line) => /started in (\d+) ms/.exec(line)?.[1] ?? []);
  assert.equal(delays, ['50', '100', '50']);
  await pool.close(0);
});

test('once the pool is closed, no worker is started for one that ended before or with it', async () => {
  const { pool, worker, started } = scene(2);
  const opened = pool.open(8000);
  worker(0).join(0);
  worker(1).join(0);
  await opened;
  worker(0).end('SIGSEGV');
  await turn();
  await pool.close(0);
  // A replacement has a delay of 50 ms, so it would be started before this resolves.
  await pause(60);
  assert.is(started.length, 2);
});

/** The figures of a process that has sent `bytes` over `connections`. */
async function figuresOf(bytes: number, connections: number): Promise<ProcessFigures> {
  const metrics = new ProcessMetrics({
    connections: () => connections,
    changeReaders: () => 0,
    residentMemory: () => null,
    bodyMemory: () => 0,
    logLinesLost: () => 0,
  });
  metrics.onResponse({
    id: '',
    method: 'GET',
    path: '/',
    route: '/',
    status: 200,
    milliseconds: 1,
    bytes,
    subject: null,
    address: '',
    aborted: false,
  });
  return metrics.figures();
}

/** Two totals that must not decrease, and a value that may, over all processes. */
function countsIn(all: readonly ProcessFigures[]) {
  const total = (name: string, series = name) =>
    all
      .flat()
      .filter((metric) => metric.name === name)
      .flatMap(({ values }) => values)
      .filter((each) => !('metricName' in each) || each.metricName === series)
      .reduce((sum, { value }) => sum + value, 0);
  const duration = 'catalog_http_request_duration_seconds';
  return {
    requests: total(duration, `${duration}_count`),
    bytes: total('catalog_http_response_bytes_total'),
    open: total('catalog_http_connections'),
  };
}

test('nothing is logged about a worker that starts while the pool is closed', async () => {
  const { pool, started, worker, warnings } = scene(1);
  const opened = pool.open(8000);
  worker(0).join(0);
  await opened;
  worker(0).end('SIGKILL');
  await until('a new worker is started', () => started.length === 2);
  const { length } = warnings;
  await pool.close(0);
  await turn();
  assert.equal(warnings.slice(length), []);
});

test('a worker that still reads the state does not hold up a stop, and one that may listen is asked', async () => {
  const { pool, started, worker } = scene(2);
  const opened = pool.open(8000);
  worker(0).join(0);
  worker(1).join(0);
  await opened;
  worker(0).end('SIGKILL');
  worker(1).end('SIGKILL');
  await until('both are replaced', () => started.length === 4);
  worker(2).send = () => {};
  worker(3).say({ kind: 'applied', sequence: 0 });
  const closed = pool.close(3_600_000);
  const { isKilled } = worker(2);
  worker(2).end('SIGKILL');
  await closed;
  assert.ok(isKilled);
  assert.not.ok(worker(3).isKilled);
  assert.equal(worker(3).received.at(-1), { kind: 'close' });
});

test('no count decreases if a worker does not answer, or ends and is replaced', async () => {
  const { pool, worker } = scene(2);
  const opened = pool.open(8000);
  worker(0).join(0);
  worker(1).join(0);
  await opened;
  const first = pool.figures();
  worker(0).say({ kind: 'figures', figures: await figuresOf(100, 1) });
  worker(1).say({ kind: 'figures', figures: await figuresOf(20, 2) });
  assert.equal(countsIn(await first), { requests: 2, bytes: 120, open: 3 });

  const busy = pool.figures();
  worker(0).say({ kind: 'figures', figures: await figuresOf(200, 1) });
  assert.equal(countsIn(await busy), { requests: 2, bytes: 220, open: 3 }, 'one is busy');

  const ending = pool.figures();
  worker(0).say({ kind: 'figures', figures: await figuresOf(300, 1) });
  worker(1).end('SIGKILL');
  assert.equal(countsIn(await ending), { requests: 2, bytes: 320, open: 3 }, 'one ends');

  const ended = pool.figures();
  worker(0).say({ kind: 'figures', figures: await figuresOf(400, 1) });
  assert.equal(countsIn(await ended), { requests: 2, bytes: 420, open: 1 }, 'one has ended');

  worker(0).end('SIGKILL');
  await turn();
  assert.equal(countsIn(await pool.figures()), { requests: 2, bytes: 420, open: 0 }, 'both have');
  await pool.close(0);
});

test('figures are there as soon as every worker has answered', async () => {
  const { pool, worker, warnings } = scene(2);
  const opened = pool.open(8000);
  worker(0).join(0);
  worker(1).join(0);
  await opened;
  const both = [pool.figures(), pool.figures()];
  assert.equal(worker(0).received.at(-1), { kind: 'figures' });
  worker(0).say({ kind: 'figures', figures: await figuresOf(100, 1) });
  worker(1).say({ kind: 'figures', figures: await figuresOf(20, 2) });
  assert.ok(await isSettled(Promise.all(both)));
  worker(0).end('SIGKILL');
  await turn();
  assert.match(warnings.join(), /a worker ended \(SIGKILL\)/);
  await pool.close(0);
});

test('a worker that does not serve yet is not asked for figures', async () => {
  const { pool, worker } = scene(1);
  const opened = pool.open(8000);
  worker(0).say({ kind: 'applied', sequence: 0 });
  assert.ok(await isSettled(pool.figures()));
  assert.not.ok(worker(0).received.some(({ kind }) => kind === 'figures'));
  worker(0).join(0);
  await opened;
  await pool.close(0);
});

test('a worker that ends before it was ever asked for figures has none', async () => {
  const { pool, worker } = scene(2);
  const opened = pool.open(8000);
  worker(0).join(0);
  worker(1).join(0);
  await opened;
  const figures = pool.figures();
  worker(0).say({ kind: 'figures', figures: await figuresOf(100, 1) });
  worker(1).end('SIGKILL');
  assert.equal(countsIn(await figures), { requests: 1, bytes: 100, open: 1 });
  await pool.close(0);
});

test('closing asks the workers to exit and kills those that do not', async () => {
  const { pool, worker, started, checks } = scene(2);
  const opened = pool.open(8000);
  worker(0).join(0);
  worker(1).join(0);
  await opened;
  worker(1).send = () => {};
  await pool.close(1);
  assert.equal(worker(0).received.at(-1), { kind: 'close' });
  assert.not.ok(worker(0).isKilled);
  assert.ok(worker(1).isKilled);
  assert.is(started.length, 2, 'none is replaced');
  assert.equal(checks, [], 'nothing looks for workers that are stuck any more');
});

test.run();
