/**
 * A server under concurrent writers, killed at a random moment, started again and compared with
 * what it had answered. Rounds go on over one directory, so that its history grows.
 *
 *     CRASH_ROUNDS=500 CRASH_SEED=7 bun test/crash/sigkill.test.ts
 */
import { readSnapshot } from '../../src/store/store.ts';
import { type Catalog, createCatalog, type Pair } from '../support/catalog.ts';
import { type Received, send } from '../support/client.ts';
import { temporaryDirectory } from '../support/directory.ts';
import { startServer, type TestServer } from '../support/server.ts';

export interface CrashOptions {
  readonly seed: number;
  readonly rounds: number;
  /** Concurrent writers. */
  readonly writers: number;
  /** Answered writes of one round, from 1 to this many, before the kill. */
  readonly writes: number;
}

export interface CrashReport {
  /** Answered writes. */
  readonly answered: number;
  /** Writes that a kill cut off. */
  readonly cutOff: number;
  /** What is not as it was promised; empty when all is well. */
  readonly violations: readonly string[];
}

const COLLECTIONS = { books: '/books/', brands: '/admin/brands/', skus: '/admin/skus/' } as const;
type Collection = keyof typeof COLLECTIONS;

type Item = Readonly<Record<string, unknown>>;

/** One row that a server has told of. */
interface Known {
  readonly collection: Collection;
  readonly id: number;
  /** As it was last answered; null once its removal was. */
  answered: Item | null;
  /** What the write under way would make of it; undefined where there is none. */
  pending: Item | null | undefined;
}

/** Pseudo-random numbers that a seed repeats (mulberry32). */
function randomFrom(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** Runs the rounds, and tells of every broken promise. */
export async function crashRounds(options: CrashOptions): Promise<CrashReport> {
  const run = new CrashRun(options);
  for (let round = 1; round <= options.rounds; round += 1) await run.round(round);
  return run.report();
}

class CrashRun {
  readonly #options: CrashOptions;
  readonly #random: (below: number) => number;
  readonly #data = temporaryDirectory();
  readonly #known = new Map<string, Known>();
  /** What creations under way would make, by their names, which occur once. */
  readonly #creating = new Map<string, { collection: Collection; item: Item }>();
  readonly #violations: string[] = [];
  #catalog: Catalog | null = null;
  #pairs: readonly Pair[] = [];
  #names = 0;
  #answered = 0;
  #cutOff = 0;

  constructor(options: CrashOptions) {
    this.#options = options;
    this.#random = randomFrom(options.seed);
  }

  report(): CrashReport {
    return { answered: this.#answered, cutOff: this.#cutOff, violations: this.#violations };
  }

  async round(round: number): Promise<void> {
    const server = await startServer({ data: this.#data });
    if (this.#catalog === null) {
      this.#catalog = await createCatalog(server);
      const { silver, black, large } = this.#catalog;
      this.#pairs = [silver, black, large];
      await this.#adopt(server);
    }
    const goal = this.#answered + 1 + this.#random(this.#options.writes);
    let killed: Promise<unknown> | null = null;
    const answered = () => {
      this.#answered += 1;
      if (this.#answered >= goal) killed ??= server.kill();
    };
    const writers = Array.from({ length: this.#options.writers }, (_, index) =>
      this.#write(server, index, answered),
    );
    await Promise.all(writers);
    await server.kill();
    this.#compareFiles(round);

    const again = await startServer({ data: this.#data });
    await this.#compare(again, round);
    await again.kill();
  }

  /** What the catalog already has belongs to the rows that must be there. */
  async #adopt(server: TestServer): Promise<void> {
    for (const [collection, path] of entries()) {
      for (const item of (await send(server, 'GET', `${path}?per_page=1000`)).json as Item[]) {
        this.#remember(collection, item);
      }
    }
  }

  #remember(collection: Collection, item: Item): void {
    const id = item['id'] as number;
    const key = `${collection} ${id}`;
    if (this.#known.has(key)) this.#violations.push(`the id of ${key} was used twice`);
    this.#known.set(key, { collection, id, answered: item, pending: undefined });
  }

  /** Writes until the server is gone. Each writer keeps to rows of its own. */
  async #write(server: TestServer, index: number, answered: () => void): Promise<void> {
    const mine = () =>
      [...this.#known.values()].filter(
        ({ collection, id, answered: item }) =>
          item !== null &&
          id % this.#options.writers === index &&
          // The SPU of all SKUs refers to it.
          !(collection === 'brands' && id === this.#catalog?.brand),
      );
    for (;;) {
      const rows = mine();
      const row = rows[this.#random(rows.length || 1)];
      const action = row === undefined ? 0 : this.#random(10);
      const going =
        action < 4 || row === undefined ? this.#create(server) : this.#change(server, row, action);
      if (!(await going)) return;
      answered();
    }
  }

  /** @returns false when the server is gone. */
  async #create(server: TestServer): Promise<boolean> {
    const collection = (['books', 'brands', 'skus'] as const)[this.#random(3)] ?? 'books';
    const body = this.#body(collection);
    const name = body['name'] as string;
    this.#creating.set(name, { collection, item: asShown(collection, body, null) });
    const answer = await this.#send(server, 'POST', COLLECTIONS[collection], body, 201);
    if (answer === null) return false;
    this.#creating.delete(name);
    this.#remember(collection, answer.json);
    return true;
  }

  async #change(server: TestServer, row: Known, action: number): Promise<boolean> {
    const { collection, id } = row;
    const path = `${COLLECTIONS[collection]}${id}/`;
    if (action >= 8) {
      row.pending = null;
      if ((await this.#send(server, 'DELETE', path, undefined, 204)) === null) return false;
      row.answered = null;
    } else {
      const whole = this.#body(collection);
      const body = action < 6 ? whole : { name: whole['name'], ...specsOf(whole) };
      row.pending = asShown(collection, body, row.answered);
      const answer = await this.#send(server, action < 6 ? 'PUT' : 'PATCH', path, body, 200);
      if (answer === null) return false;
      row.answered = answer.json;
    }
    row.pending = undefined;
    return true;
  }

  /** @returns null when no answer came. */
  async #send(server: TestServer, method: string, path: string, body: unknown, status: number) {
    let answer: Received;
    try {
      answer = await send(server, method, path, { body });
    } catch {
      this.#cutOff += 1;
      return null;
    }
    if (answer.status === status) return answer;
    this.#violations.push(`${method} ${path}: ${answer.status} ${answer.text}`);
    return null;
  }

  /** Every field of a request, under a name that occurs once. */
  #body(collection: Collection): Item {
    this.#names += 1;
    const name = `${collection} ${this.#names} \u{1f600}`;
    if (collection === 'books') return { name, pub_date: '1815-12-23' };
    if (collection === 'brands') return { name, logo: 'logo.png', first_letter: 'B' };
    const { spu, chain } = this.#catalog as Catalog;
    return {
      name,
      spu_id: spu,
      caption: '',
      category_id: chain[2],
      price: this.#random(1e6),
      cost_price: 1,
      market_price: 2,
      stock: this.#random(100),
      is_launched: true,
      specs: Array.from({ length: this.#random(4) }, () => this.#pairs[this.#random(3)]),
    };
  }

  async #compare(server: TestServer, round: number): Promise<void> {
    const wrong = (text: string) => this.#violations.push(`round ${round}: ${text}`);
    for (const [collection, path] of entries()) {
      const there = new Map<number, Item>();
      for (let page = 1; ; page += 1) {
        const items = (await send(server, 'GET', `${path}?page=${page}&per_page=1000`))
          .json as Item[];
        for (const item of items) there.set(item['id'] as number, item);
        if (items.length < 1000) break;
      }
      for (const known of this.#known.values()) {
        if (known.collection !== collection) continue;
        const item = there.get(known.id) ?? null;
        const fits = same(item, known.answered);
        const finished = known.pending !== undefined && same(item, known.pending);
        if (!fits && !finished) {
          wrong(
            `${collection} ${known.id} is ${show(item)}, answered ${show(known.answered)}, under way ${show(known.pending)}`,
          );
        }
        known.answered = item;
        known.pending = undefined;
        there.delete(known.id);
      }
      for (const [id, item] of there) {
        const creating = this.#creating.get(item['name'] as string);
        this.#creating.delete(item['name'] as string);
        if (creating === undefined) wrong(`nobody made ${collection} ${id}: ${show(item)}`);
        else if (!same(item, { ...creating.item, id })) {
          wrong(`${collection} ${id} is half there: ${show(item)}, sent ${show(creating.item)}`);
        }
        this.#remember(collection, item);
      }
    }
    this.#creating.clear();
    await this.#compareItems(server, wrong);
    await this.#compareIds(server, wrong);
  }

  /** Items by themselves say what the collections say, and what was deleted is known to be. */
  async #compareItems(server: TestServer, wrong: (text: string) => void): Promise<void> {
    for (const { collection, id, answered } of this.#known.values()) {
      const path = `${COLLECTIONS[collection]}${id}/`;
      const answer = await send(server, 'GET', path);
      const absent = collection === 'books' ? 404 : 410;
      if (answer.status !== (answered === null ? absent : 200)) wrong(`${path}: ${answer.status}`);
      if (answered !== null && !same(answer.json, answered)) wrong(`${path}: ${answer.text}`);
      if (answered === null || collection !== 'skus') continue;
      const records = (await send(server, 'GET', `${path}specs/?per_page=1000`)).json as Item[];
      const pairs = records.map(({ spec_id, option_id }) => ({ spec_id, option_id }));
      if (!same(pairs, answered['specs'])) wrong(`${path}specs/: ${show(pairs)}`);
    }
  }

  /** New rows get ids above every id that anybody has seen. */
  async #compareIds(server: TestServer, wrong: (text: string) => void): Promise<void> {
    for (const [collection, path] of entries()) {
      const ids = [...this.#known.values()].flatMap((known) =>
        known.collection === collection ? [known.id] : [],
      );
      const { json, status, text } = await send(server, 'POST', path, {
        body: this.#body(collection),
      });
      if (status !== 201) wrong(`POST ${path} after the start: ${status} ${text}`);
      else if (json.id <= Math.max(0, ...ids))
        wrong(`${collection} ${json.id} is an id used before`);
      else this.#remember(collection, json);
    }
  }

  /** No specification record without its SKU, whatever HTTP shows. */
  #compareFiles(round: number): void {
    const store = readSnapshot(this.#data);
    for (const id of store.ids('sku_specs')) {
      const sku = store.get('sku_specs', id)?.['sku_id'] ?? null;
      if (store.get('skus', sku) === undefined) {
        this.#violations.push(`round ${round}: record ${id} is without its SKU ${sku}`);
      }
    }
  }
}

const entries = () => Object.entries(COLLECTIONS) as [Collection, string][];

function specsOf({ specs }: Item): Item {
  return specs === undefined ? {} : { specs };
}

/** The object that a write makes of a body, over the object as it is. */
function asShown(collection: Collection, body: Item, current: Item | null): Item {
  const { spu_id: spu, specs, ...fields } = body;
  if (collection === 'books') {
    return { commentcount: 0, readcount: 0, image: '', ...current, ...fields };
  }
  if (collection === 'brands') return { ...current, ...fields };
  const added = (specs ?? []) as readonly Pair[];
  const kept = (current?.['specs'] ?? []) as readonly Pair[];
  return {
    goods: 'Phone',
    category: 'Phone 3',
    sales: 0,
    ...(spu !== undefined && { goods_id: spu }),
    ...current,
    ...fields,
    specs: [...kept, ...added],
  };
}

const show = (value: unknown) => JSON.stringify(value);

/** Whether two values are the same but for the order of their members. */
function same(a: unknown, b: unknown): boolean {
  return Bun.deepEquals(a, b, true);
}
