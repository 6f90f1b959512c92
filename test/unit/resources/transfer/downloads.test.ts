/** The limits of concurrent exports, and the minimum speed of their clients (spec 12.2). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CatalogError } from '../../../../src/errors.ts';
import { KINDS } from '../../../../src/model/kinds.ts';
import {
  type Download,
  Downloads,
  MAX_OF_SUBJECT,
  MAX_OPEN,
} from '../../../../src/resources/transfer/downloads.ts';
import { failureOf } from '../../../support/failure.ts';

const TIMEOUT_MS = 60_000;

const PIECE = 'x'.repeat(64 * 1024);

/** Pieces in a MiB. */
const STRETCH = 16;

const EVERYTHING = { filters: [], sortby: 'id', order: 'asc' } as const;

/** Downloads of an endless text, with a clock that the test advances. */
class Site {
  /** Texts that were begun and not closed: each would hold a view. */
  held = 0;
  /** Milliseconds that it takes to make a piece. */
  makingMs = 0;
  /** Pieces of a text. */
  pieces = Number.POSITIVE_INFINITY;
  failure: Error | null = null;
  #clock = 0;
  readonly #timers = new Set<{ readonly due: number; readonly work: () => void }>();
  readonly #downloads = new Downloads(
    {
      open: () => {
        if (this.failure !== null) return Promise.reject(this.failure);
        return Promise.resolve({ name: 'skus.csv', text: this.#text() });
      },
    },
    TIMEOUT_MS,
    {
      now: () => this.#clock,
      after: (work, milliseconds) => {
        const timer = { due: this.#clock + milliseconds, work };
        this.#timers.add(timer);
        return () => this.#timers.delete(timer);
      },
    },
  );

  open(subject: string | null): Promise<Download> {
    return this.#downloads.open(KINDS.skus, 'csv', EVERYTHING, subject);
  }

  pass(milliseconds: number): void {
    this.#clock += milliseconds;
    for (const timer of this.#timers) {
      if (timer.due > this.#clock || !this.#timers.delete(timer)) continue;
      timer.work();
    }
  }

  async *#text(): AsyncGenerator<string> {
    this.held += 1;
    try {
      for (let piece = 0; piece < this.pieces; piece += 1) {
        if (this.failure !== null) throw this.failure;
        this.#clock += this.makingMs;
        yield PIECE;
      }
    } finally {
      this.held -= 1;
    }
  }
}

async function requireLate(text: Download['text']): Promise<void> {
  await text.next().then(
    () => assert.unreachable('it is closed'),
    (error: unknown) => assert.match(String(error), 'less than 1 MiB of an export in 60 s'),
  );
}

const opened = (site: Site, subject: string, count: number) =>
  Promise.all(Array.from({ length: count }, () => site.open(subject)));

test('concurrent exports are limited for each subject and for all together', async () => {
  const site = new Site();
  await opened(site, 'a', MAX_OF_SUBJECT);
  await opened(site, 'b', MAX_OPEN - MAX_OF_SUBJECT - 1);
  const { code, message, headers } = await failureOf(site.open('a'));
  assert.is(code, 'busy');
  assert.match(message, `${MAX_OF_SUBJECT} of your exports`);
  assert.equal(headers, { 'Retry-After': '10' });
  await site.open('c');
  assert.match((await failureOf(site.open('d'))).message, `${MAX_OPEN} exports are in progress`);
  assert.match((await failureOf(site.open(null))).message, `${MAX_OPEN} exports are in progress`);
});

test('a place becomes free when the client disconnects, whether or not it has read', async () => {
  const site = new Site();
  for (let nth = 0; nth < 2 * MAX_OPEN; nth += 1) {
    const { text } = await site.open('a');
    if (nth % 2 === 0) await text.next();
    await text.return?.();
    await text.return?.();
  }
  assert.is(site.held, 0);
});

test('a place becomes free when an export was read to its end', async () => {
  const site = new Site();
  site.pieces = 2;
  for (let nth = 0; nth < 2 * MAX_OPEN; nth += 1) {
    const { text } = await site.open('a');
    assert.is((await Array.fromAsync(text)).length, site.pieces);
    assert.equal(await text.next(), { done: true, value: undefined });
  }
  assert.is(site.held, 0);
});

test('a place becomes free when an export fails, at once or later', async () => {
  const site = new Site();
  for (let nth = 0; nth < 2 * MAX_OPEN; nth += 1) {
    site.failure = nth % 2 === 0 ? new CatalogError('busy', 'it cannot be sorted') : null;
    if (site.failure !== null) {
      assert.match((await failureOf(site.open('a'))).message, 'it cannot be sorted');
      continue;
    }
    const { text } = await site.open('a');
    await text.next();
    site.failure = new CatalogError('store_damaged', 'it cannot be read');
    assert.match((await failureOf(text.next())).message, 'it cannot be read');
  }
});

test('an export whose client reads nothing for 60 seconds ends, and its place becomes free', async () => {
  const site = new Site();
  const texts = await opened(site, 'a', MAX_OF_SUBJECT);
  for (const { text } of texts.slice(1)) await text.next();
  site.pass(TIMEOUT_MS - 1);
  await failureOf(site.open('a'));
  assert.is(site.held, MAX_OF_SUBJECT - 1);
  site.pass(1);
  await opened(site, 'a', MAX_OF_SUBJECT);
  assert.is(site.held, 0);
  for (const { text } of texts) await requireLate(text);
});

test('an export whose client reads less than 1 MiB in 60 seconds ends', async () => {
  const site = new Site();
  const { text } = await site.open('a');
  for (let piece = 0; piece < STRETCH - 1; piece += 1) {
    await text.next();
    site.pass(TIMEOUT_MS / STRETCH);
  }
  assert.is(site.held, 1);
  site.pass(TIMEOUT_MS / STRETCH);
  await requireLate(text);
  assert.is(site.held, 0);
});

test('the 60 seconds begin again with each MiB, and not with each piece after the first one', async () => {
  const site = new Site();
  const { text } = await site.open('a');
  for (let piece = 0; piece < STRETCH; piece += 1) await text.next();
  site.pass(TIMEOUT_MS / 2);
  for (let piece = 0; piece < STRETCH / 2; piece += 1) await text.next();
  site.pass(TIMEOUT_MS / 2 - 1);
  assert.is(site.held, 1);
  site.pass(1);
  await requireLate(text);
  assert.is(site.held, 0);
});

test('an export whose client reads 1 MiB in 60 seconds may take any time', async () => {
  const site = new Site();
  const { text } = await site.open('a');
  for (let piece = 0; piece < 100 * STRETCH; piece += 1) {
    assert.is((await text.next()).value?.length, PIECE.length);
    site.pass(TIMEOUT_MS / STRETCH - 1);
  }
  assert.is(site.held, 1);
});

test('the time that it takes to make a piece does not count for the client', async () => {
  const site = new Site();
  site.makingMs = TIMEOUT_MS;
  const { text } = await site.open('a');
  for (let piece = 0; piece < STRETCH; piece += 1) {
    await text.next();
    site.pass(1);
  }
  assert.is(site.held, 1);
});

test.run();
