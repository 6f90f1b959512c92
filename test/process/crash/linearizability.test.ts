/**
 * Reads and writes of single rows are linearizable, even across kills: clients work concurrently on
 * a few rows, the server is killed and restarted, and a checker judges the whole history.
 *
 *     LINEAR_ROUNDS=200 LINEAR_SEED=7 bun test/process/crash/linearizability.test.ts
 */
import { setTimeout as pause } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { send, tokenFor } from '../../support/client.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { randomFrom } from '../../support/random.ts';
import { type Operation, settled, violationIn } from '../../support/registers.ts';
import { killServers, startServer, type TestServer } from '../../support/server.ts';
import { sendOnce } from '../../support/single-request.ts';

const ROUNDS = Number(process.env['LINEAR_ROUNDS'] || 4);
const SEED = Number(process.env['LINEAR_SEED'] || Date.now() % 1_000_000);
const CLIENTS = 6;
const REGISTERS = 2;

/** Maximum number of responses in one round before the kill. */
const MAX_ANSWERS = 300;

/** Maximum time between the last of them and the kill, in milliseconds. */
const MAX_DELAY_MS = 4;

const INITIAL = 'initial';

test.after(killServers);

const read = (called: number, ended: number, saw: string): Operation => {
  return { called, ended, does: { type: 'read', saw }, isCutOff: false };
};
const write = (called: number, ended: number, wrote: string, isCutOff = false): Operation => {
  return { called, ended, does: { type: 'write', wrote }, isCutOff };
};
const exchange = (
  called: number,
  ended: number,
  expected: string,
  succeeded: boolean,
): Operation => {
  const does = { type: 'exchange', expected, wrote: 'exchanged', succeeded } as const;
  return { called, ended, does, isCutOff: false };
};

test('the checker accepts linearizable histories and rejects others', () => {
  const accepted: readonly (readonly Operation[])[] = [
    [read(0, 1, INITIAL), write(2, 3, 'a'), read(4, 5, 'a')],
    // During a write a reader may see either value, but not the old one after the new one.
    [write(0, 9, 'a'), read(1, 2, INITIAL), read(3, 4, 'a')],
    [write(0, 9, 'a'), write(0, 9, 'b'), read(10, 11, 'a'), read(12, 13, 'a')],
    // A write that was cut off took effect or not, and that does not change later.
    [write(0, 5, 'a', true), read(6, 7, INITIAL), read(8, 9, INITIAL)],
    [write(0, 5, 'a', true), read(6, 7, 'a')],
    [write(0, 3, 'a'), exchange(4, 5, 'a', true), read(6, 7, 'exchanged')],
    [write(0, 3, 'a'), exchange(4, 5, 'b', false), read(6, 7, 'a')],
  ];
  for (const history of accepted) assert.is(violationIn(history, INITIAL), null);
  const refused: readonly (readonly Operation[])[] = [
    [write(0, 1, 'a'), read(2, 3, INITIAL)],
    [write(0, 9, 'a'), read(1, 2, 'a'), read(3, 4, INITIAL)],
    [write(0, 1, 'a'), write(2, 3, 'b'), read(4, 5, 'a')],
    [write(0, 5, 'a', true), read(6, 7, INITIAL), read(8, 9, 'a')],
    [write(0, 5, 'a', true), read(6, 7, 'a'), read(8, 9, INITIAL)],
    // A lost update.
    [exchange(0, 1, INITIAL, true), exchange(2, 3, INITIAL, true)],
    [exchange(0, 1, INITIAL, false)],
    [read(0, 1, 'never written')],
  ];
  for (const history of refused) assert.is.not(violationIn(history, INITIAL), null);
});

test('a write without a response may take effect late, until a client first sees it', () => {
  const accepted: readonly (readonly Operation[])[] = [
    // It took effect after its client had given up, and after another write.
    [write(0, 1, 'a', true), write(2, 3, 'b'), read(4, 5, 'b'), read(6, 7, 'a'), read(8, 9, 'a')],
    [write(0, 1, 'a', true), write(2, 3, 'b'), exchange(4, 5, 'a', true)],
    // No read saw it, but it must have taken effect before the exchange.
    [write(0, 1, 'a', true), exchange(2, 3, INITIAL, false), write(4, 5, 'b'), read(6, 7, 'b')],
  ];
  for (const history of accepted) assert.is(violationIn(settled(history), INITIAL), null);
  const refused: readonly (readonly Operation[])[] = [
    [write(0, 1, 'a', true), read(2, 3, 'a'), write(4, 5, 'b'), read(6, 7, 'a')],
    [write(0, 1, 'a', true), write(2, 3, 'b'), read(4, 5, INITIAL)],
    [exchange(0, 1, INITIAL, false), write(2, 3, 'a', true)],
  ];
  for (const history of refused) assert.is.not(violationIn(settled(history), INITIAL), null);
});

/** The operations of the clients on the registers: brands, whose names are the values. */
class Run {
  readonly histories = Array.from({ length: REGISTERS }, (): Operation[] => []);
  answers = 0;
  cutOff = 0;
  readonly #random = randomFrom(SEED);
  #values = 0;

  /** Runs one client until the server is killed. @param onResponse called after each response. */
  async client({ url, finished }: TestServer, onResponse: () => void): Promise<void> {
    const authorization = `Bearer ${await tokenFor('admin')}`;
    /** The last value of each register that it has read, with its ETag. */
    const known = new Map<number, { readonly value: string; readonly etag: string }>();
    for (;;) {
      const register = this.#random(REGISTERS);
      const item = `${url}/admin/brands/${register + 1}/`;
      const history = this.histories[register] ?? [];
      const before = known.get(register);
      const choice = this.#random(5);
      const called = performance.now();
      if (choice < 2) {
        const answer = await sendOnce(item, { method: 'GET', authorization }).catch(() => null);
        if (answer === null) return;
        assert.is(answer.status, 200, answer.text);
        const { name } = JSON.parse(answer.text) as { readonly name: string };
        known.set(register, { value: name, etag: answer.etag });
        history.push(read(called, performance.now(), name));
      } else {
        const isConditional = choice === 4 && before !== undefined;
        this.#values += 1;
        const wrote = `value ${this.#values}`;
        const answer = await sendOnce(item, {
          method: 'PUT',
          authorization,
          'content-type': 'application/json',
          body: JSON.stringify({ name: wrote, logo: '', first_letter: 'B' }),
          ...(isConditional && { 'if-match': before.etag }),
        }).catch(() => null);
        // After the process has ended, the write can no longer take effect.
        if (answer === null) await finished;
        const ended = performance.now();
        const effect = (succeeded: boolean): Operation['does'] =>
          isConditional
            ? { type: 'exchange', expected: before.value, wrote, succeeded }
            : { type: 'write', wrote };
        if (answer === null) {
          this.cutOff += 1;
          history.push({ called, ended, does: effect(true), isCutOff: true });
          return;
        }
        assert.ok(answer.status === 200 || (isConditional && answer.status === 412), answer.text);
        history.push({ called, ended, does: effect(answer.status === 200), isCutOff: false });
      }
      this.answers += 1;
      onResponse();
    }
  }

  /** Runs all clients until the server is killed. */
  async round(server: TestServer): Promise<void> {
    const last = this.answers + 1 + this.#random(MAX_ANSWERS);
    const delay = this.#random(MAX_DELAY_MS * 1000) / 1000;
    let isDue = false;
    const onResponse = () => {
      if (isDue || this.answers < last) return;
      isDue = true;
      void pause(delay).then(() => server.kill());
    };
    // The clients end with the server.
    await Promise.all(Array.from({ length: CLIENTS }, () => this.client(server, onResponse)));
    await server.finished;
  }
}

test('concurrent reads and writes of a row are linearizable across kills', async () => {
  process.stdout.write(`LINEAR_SEED=${SEED} LINEAR_ROUNDS=${ROUNDS}\n`);
  const data = temporaryDirectory();
  const run = new Run();
  for (let round = 0; round < ROUNDS; round += 1) {
    const server = await startServer({ data });
    if (round === 0) {
      for (let register = 0; register < REGISTERS; register += 1) {
        const body = { name: INITIAL, logo: '', first_letter: 'B' };
        assert.is((await send(server, 'POST', '/admin/brands/', { body })).status, 201);
      }
    }
    await run.round(server);
  }
  process.stdout.write(`${run.answers} answers, ${run.cutOff} writes cut off\n`);
  assert.ok(run.answers >= ROUNDS);
  for (const [register, history] of run.histories.entries()) {
    const violation = violationIn(history, INITIAL);
    assert.is(violation, null, `register ${register}: ${JSON.stringify(violation)}`);
  }
});

test.run();
