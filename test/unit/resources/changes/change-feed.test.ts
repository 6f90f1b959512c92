/** Slow readers of changes use bounded memory. */
import { setTimeout as pause } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CatalogError } from '../../../../src/errors.ts';
import {
  ChangeFeed,
  type FeedPage,
  MAX_OPEN,
  MAX_OPEN_OF_SUBJECT,
} from '../../../../src/resources/changes/change-feed.ts';
import { ChangeSource } from '../../../../src/resources/changes/change-source.ts';
import { arrayText } from '../../../../src/resources/changes/feed-text.ts';
import type { ChangeSet } from '../../../../src/store/change-set.ts';
import type { CommitListener } from '../../../../src/store/writer/local-commits.ts';
import { codeOf } from '../../../support/failure.ts';
import { countingTurns, turn } from '../../../support/turns.ts';

const PIECE_BYTES = 64 * 1024;

const ADMIN = { subjects: true };
const VIEWER = { subjects: false };

const READER = 'ann';

/** Rows of a change set whose text has several pieces. */
const ROWS = 1000;

function changeSet(sequence: number, rows = ROWS): ChangeSet {
  const brands = Array.from({ length: rows }, (_, index) => ({
    id: index + 1,
    name: `${sequence} ${'\u{1f600}\u00e9'.repeat(20)}`,
    logo: '',
    first_letter: '',
  }));
  const rest = { previous: '', digest: '', time: '', last_ids: {}, delete: {} };
  return { sequence, ...rest, put: { brands } };
}

/** A store with change sets in files, which counts the reads of them. */
class Files {
  sequence: number;
  read = 0;
  open = 0;
  most = 0;
  #listener: CommitListener = () => {};

  constructor(sequence: number) {
    this.sequence = sequence;
  }

  onCommit = (listener: CommitListener): void => {
    this.#listener = listener;
  };

  async *since(after: number): AsyncGenerator<ChangeSet> {
    this.open += 1;
    this.most = Math.max(this.most, this.open);
    try {
      for (let at = after + 1; at <= this.sequence; at += 1) {
        this.read += 1;
        await turn();
        yield changeSet(at);
      }
    } finally {
      this.open -= 1;
    }
  }

  commit(given: ChangeSet, bytes: number): void {
    this.sequence = given.sequence;
    this.#listener({ changeSet: given, changes: [], bytes });
  }
}

const query = (since: number, limit = 1000) => ({ since, limit, wait: 0, subject: READER });

function iteratorOf({ text }: Pick<FeedPage, 'text'>): AsyncIterator<Uint8Array> {
  assert.ok(typeof text !== 'string');
  return text[Symbol.asyncIterator]();
}

async function wholeOf(iterator: AsyncIterator<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  for (;;) {
    const { done, value } = await iterator.next();
    if (done === true) return Buffer.concat(pieces).toString();
    assert.ok(value.length <= PIECE_BYTES, `a piece of ${value.length} bytes`);
    pieces.push(value);
  }
}

test('files are read for one reader at a time, once for each shared text, and not kept open', async () => {
  const files = new Files(20);
  const feed = new ChangeFeed(new ChangeSource(files));
  const readers = await Promise.all(
    Array.from({ length: 40 }, async (_, index) => {
      const page = await feed.page(query(index % 10), index % 2 === 0 ? ADMIN : VIEWER);
      const iterator = iteratorOf(page);
      await iterator.next();
      return iterator;
    }),
  );
  assert.is(files.most, 1);
  assert.is(files.open, 0);
  assert.is(files.read, 10, 'once for each text, and the two views begin at different ones');
  for (const reader of readers) await reader.return?.();
  assert.is(feed.open, 0);
});

test('readers of a long commit share its bytes, except readers that see subjects', async () => {
  const files = new Files(0);
  const feed = new ChangeFeed(new ChangeSource(files));
  const pages = [VIEWER, VIEWER, ADMIN].map((view) =>
    feed.page({ ...query(0), wait: 60_000 }, view),
  );
  const events = [VIEWER, VIEWER].map((view) =>
    iteratorOf({ text: feed.events(0, READER, view, () => true) }),
  );
  files.commit(changeSet(1), 8 * PIECE_BYTES);
  const readers = [...(await Promise.all(pages)).map(iteratorOf), ...events];
  const long = await Promise.all(
    readers.map(async (reader) => {
      for (;;) {
        const { value } = await reader.next();
        if (value.length > PIECE_BYTES / 2) return value as Uint8Array;
      }
    }),
  );
  const [first, second, admin, event, other] = long;
  assert.ok(first === second && first === event && first === other, 'one buffer for all of them');
  assert.ok(first !== admin);
  for (const reader of readers) await reader.return?.();
});

test('readers of a short commit share its text', async () => {
  const files = new Files(0);
  let texts = 0;
  const row = { id: 1, name: 'Ondine', toJSON: () => ({ made: (texts += 1) }) };
  const feed = new ChangeFeed(new ChangeSource(files));
  const pages = [1, 2, 3].map(() => feed.page({ ...query(0), wait: 60_000 }, VIEWER));
  files.commit({ ...changeSet(1, 0), put: { brands: [row as never] } }, 200);
  for (const page of await Promise.all(pages))
    assert.match(await wholeOf(iteratorOf(page)), '"made":1');
  assert.is(texts, 1);
});

test('a short commit whose text has several pieces is sent as a whole', async () => {
  const files = new Files(0);
  const feed = new ChangeFeed(new ChangeSource(files));
  const page = feed.page({ ...query(0, 1), wait: 60_000 }, VIEWER);
  files.commit(changeSet(1), PIECE_BYTES);
  const text = await wholeOf(iteratorOf(await page));
  assert.ok(text.length > PIECE_BYTES);
  assert.is(JSON.parse(text).length, ROWS);
});

test('at most 16 pieces of long texts are sent in each turn of the event loop', () =>
  countingTurns(async (turns) => {
    const files = new Files(2);
    const feed = new ChangeFeed(new ChangeSource(files));
    const perTurn = new Map<number, number>();
    const read = async (iterator: AsyncIterator<Uint8Array>) => {
      for (;;) {
        const { done, value } = await iterator.next();
        if (done === true) return;
        if (value.length < PIECE_BYTES / 2) continue;
        perTurn.set(turns(), (perTurn.get(turns()) ?? 0) + 1);
      }
    };
    await Promise.all(
      Array.from({ length: 40 }, async () => read(iteratorOf(await feed.page(query(0), VIEWER)))),
    );
    assert.ok(Math.max(...perTurn.values()) <= 16, String([...perTurn.values()]));
    perTurn.clear();
    const streams = Array.from({ length: 40 }, () =>
      iteratorOf({ text: feed.events(0, READER, VIEWER, () => true) }),
    );
    await Promise.all(
      streams.map(async (stream) => {
        // The beginning of the event, its first piece, its second piece.
        for (let piece = 0; piece < 3; piece += 1) await stream.next();
        perTurn.set(turns(), (perTurn.get(turns()) ?? 0) + 1);
      }),
    );
    assert.ok(Math.max(...perTurn.values()) <= 16, String([...perTurn.values()]));
    for (const stream of streams) await stream.return?.();
  }));

test('a slow reader whose text was evicted continues with the same text', async () => {
  const files = new Files(2);
  let now = 0;
  let later = () => {};
  const delay = (work: () => void) => {
    later = work;
    return () => {};
  };
  const sharing = { maxBytes: 0, now: () => now, delay };
  const feed = new ChangeFeed(new ChangeSource(files), { sharing });
  const expected = await wholeOf(iteratorOf(await feed.page(query(0), VIEWER)));
  assert.is(JSON.parse(expected).length, 2 * ROWS);
  const slow = iteratorOf(await feed.page(query(0), VIEWER));
  const begun = [(await slow.next()).value, (await slow.next()).value] as Uint8Array[];
  const other = feed.page(query(1), VIEWER);
  now += 5000;
  later();
  assert.ok((await wholeOf(iteratorOf(await other))).startsWith('[{"sequence":2,'));
  const rest = await wholeOf(slow);
  assert.ok(Buffer.concat(begun).toString() + rest === expected);
});

test('responses that are closed before their first piece do not hold up others', async () => {
  const files = new Files(3);
  const sharing = { maxBytes: 0, delay: () => () => {} };
  const feed = new ChangeFeed(new ChangeSource(files), { sharing });
  for (const since of [0, 1]) await iteratorOf(await feed.page(query(since), VIEWER)).return?.();
  // If one of them held a place, this would wait forever.
  const text = await wholeOf(iteratorOf(await feed.page(query(2), VIEWER)));
  assert.is(JSON.parse(text).length, ROWS);
});

test('a reader that disconnects while it waits for its turn ends at once', async () => {
  const files = new Files(3);
  const sharing = { maxBytes: 0, delay: () => () => {} };
  const feed = new ChangeFeed(new ChangeSource(files), { sharing });
  const slow = iteratorOf(await feed.page(query(0), VIEWER));
  await slow.next();
  const stream = iteratorOf({ text: feed.events(1, READER, VIEWER, () => true) });
  const next = stream.next();
  assert.is(feed.open, 2);
  await stream.return?.();
  assert.is((await next).done, true);
  const gone = new AbortController();
  const page = feed.page(query(2), VIEWER, gone.signal);
  gone.abort();
  assert.is((await page).text, '[]');
  assert.is(feed.open, 1);
  await slow.return?.();
});

test('one subject gets half of the places, by waiting, by arrays and by streams', async () => {
  const files = new Files(2);
  const feed = new ChangeFeed(new ChangeSource(files));
  const gone = new AbortController();
  const open = async (subject: string, count: number) => {
    const readers: AsyncIterator<Uint8Array>[] = [];
    for (let nth = 0; nth < count; nth += 1) {
      readers.push(
        iteratorOf(
          nth % 2 === 0
            ? { text: feed.events(0, subject, VIEWER, () => true) }
            : await feed.page({ ...query(0), subject }, VIEWER),
        ),
      );
    }
    return readers;
  };
  // They count before the first piece is taken: requests of many connections come in one turn.
  const own = await open('ann', MAX_OPEN_OF_SUBJECT - 1);
  const waiting = feed.page(
    { since: 2, limit: 1, wait: 60_000, subject: READER },
    VIEWER,
    gone.signal,
  );
  const message = /of your requests for changes are open/;
  assert.throws(() => feed.events(0, READER, VIEWER, () => true), message);
  await refused(feed.page(query(0), VIEWER), message);
  const others = await open('bob', MAX_OPEN - MAX_OPEN_OF_SUBJECT);
  assert.is(feed.open, MAX_OPEN);
  await refused(feed.page({ ...query(0), subject: 'carol' }, VIEWER), /too many requests/);
  gone.abort();
  await waiting;
  for (const reader of own) await reader.return?.();
  assert.is(feed.open, MAX_OPEN - MAX_OPEN_OF_SUBJECT);
  await wholeOf(iteratorOf(await feed.page(query(0), VIEWER)));
  files.since = () => {
    throw new Error('it is gone');
  };
  await refused(feed.page(query(0), VIEWER), /it is gone/);
  assert.throws(() => feed.events(0, READER, VIEWER, () => true), /it is gone/);
  for (const reader of others) await reader.return?.();
  assert.is(feed.open, 0);
});

async function refused(page: Promise<FeedPage>, message: RegExp): Promise<void> {
  const outcome = await page.then(() => 'it was accepted', String);
  assert.match(outcome, message);
}

test('a reader who may not read any more when its wait ends gets nothing, and gives its place back', async () => {
  const files = new Files(2);
  const feed = new ChangeFeed(new ChangeSource(files));
  let isAllowed = true;
  const confirm = () => {
    if (!isAllowed) throw new Error('it was revoked');
  };
  const wait = { ...query(2), wait: 60_000, confirm };
  const first = feed.page(wait, VIEWER);
  files.commit(changeSet(3, 1), 200);
  assert.match(await wholeOf(iteratorOf(await first)), '"sequence":3');
  const second = feed.page({ ...wait, since: 3 }, VIEWER);
  isAllowed = false;
  files.commit(changeSet(4, 1), 200);
  await refused(second, /it was revoked/);
  assert.is(feed.open, 0);
});

test('a wait is not prolonged by change sets of which nothing is published', async () => {
  const files = new Files(2);
  const feed = new ChangeFeed(new ChangeSource(files));
  const found: FeedPage[] = [];
  const waiting = feed.page({ ...query(2), wait: 50 }, VIEWER).then((page) => found.push(page));
  for (let sequence = 3; found.length === 0 && sequence < 1000; sequence += 1) {
    files.commit({ ...changeSet(sequence), put: {} }, 200);
    await pause(1);
  }
  assert.is(found[0]?.text, '[]');
  await waiting;
  assert.is(feed.open, 0);
});

test('a stream of changes that are no longer kept ends; its reader connects again, and learns why', async () => {
  const files = new Files(2);
  const feed = new ChangeFeed(new ChangeSource(files));
  const stream = iteratorOf({ text: feed.events(0, READER, VIEWER, () => true) });
  files.since = () => {
    throw new CatalogError('history_gone', 'they are too old');
  };
  assert.is((await stream.next()).done, true);
  assert.is(feed.open, 0);
});

test('an array ends after a whole change set if the next ones are no longer kept', async () => {
  const files = new Files(3);
  const feed = new ChangeFeed(new ChangeSource(files));
  const array = iteratorOf(await feed.page(query(0), VIEWER));
  const pieces = [(await array.next()).value];
  files.since = () => {
    throw new CatalogError('history_gone', 'they are too old');
  };
  for (let step = await array.next(); step.done !== true; step = await array.next()) {
    pieces.push(step.value);
  }
  const changes: readonly { readonly sequence: number }[] = JSON.parse(
    Buffer.concat(pieces).toString(),
  );
  assert.is(changes.length, ROWS);
  assert.ok(changes.every(({ sequence }) => sequence === 1));
  assert.is(feed.open, 0);
});

test('an array breaks off in the middle of a change set, and if the next one is damaged', async () => {
  for (const [isLast, code] of [
    [false, 'history_gone'],
    [true, 'store_damaged'],
  ] as const) {
    const parts = async function* () {
      yield { sequence: 1, bytes: Buffer.from('{}'), isFirst: true, isLast };
      throw new CatalogError(code, 'it cannot be read');
    };
    const read = async () => {
      let text = '';
      for await (const piece of arrayText(parts(), 10)) text += Buffer.from(piece).toString();
      return text;
    };
    assert.is(await codeOf(read()), code);
  }
});

test('a stream without events gets a comment every 15 seconds', async () => {
  const source = new ChangeSource(new Files(1));
  const waits: (number | undefined)[] = [];
  source.arrivals.past = async (_after, milliseconds) => {
    waits.push(milliseconds);
    return false;
  };
  const { now } = performance;
  performance.now = () => 1000;
  try {
    const text = iteratorOf({ text: new ChangeFeed(source).events(1, READER, VIEWER, () => true) });
    for (const count of [1, 2]) {
      assert.is(String((await text.next()).value), ':\n\n', `comment ${count}`);
    }
    await text.return?.();
  } finally {
    performance.now = now;
  }
  assert.equal(waits, [15_000, 15_000]);
});

test.run();
