/**
 * Records what a server was asked and what it answered, and derives what has to be there after a
 * kill. Writers and readers work until the server ends; then a restarted server is compared with
 * the ledger.
 */
import type { KindName } from '../../../src/model/kind.ts';
import type { State } from '../../../src/store/state.ts';
import { type Catalog, createCatalog, type Pair } from '../../support/catalog.ts';
import { type Received, send } from '../../support/client.ts';
import { randomFrom } from '../../support/random.ts';
import type { TestServer } from '../../support/server.ts';

type Server = Pick<TestServer, 'url'>;

const PATHS = {
  books: '/books/',
  brands: '/admin/brands/',
  categories: '/admin/categories/',
  goods: '/admin/goods/',
  skus: '/admin/skus/',
} as const;
type Collection = keyof typeof PATHS;
const COLLECTIONS = Object.keys(PATHS) as Collection[];

type Item = Readonly<Record<string, unknown>>;

/** Approximate number of rows of one writer: if it has fewer, it creates more. */
const ROWS = 30;

/** How many writers have an SPU with long texts, so that checkpoints are frequent. */
const BULKY = 3;

/** Maximum length of such a text, in characters. */
const LONGEST = 65_000;

/** Number of untouched rows that a comparison requests one by one. */
const SAMPLE = 25;

/** A row that a server has returned. */
interface Known {
  readonly collection: Collection;
  readonly id: number;
  /** The last known value; null after a confirmed deletion. */
  answered: Item | null;
  /** Its value after the write in progress; undefined if there is none. */
  pending: Item | null | undefined;
  /** Whether a request has referred to it since the last comparison. */
  touched: boolean;
}

/** A row that is being created. */
interface Creation {
  readonly collection: Collection;
  readonly item: Item;
  /** The id with which a reader has seen it. */
  seen: number | null;
}

/** A name that was given to the row that all writers share. */
interface Naming {
  readonly name: string;
  /** The positions of the request and of its response in the order of all of them. */
  readonly sent: number;
  answered: number;
}

export interface LedgerOptions {
  readonly seed: number;
  /** Concurrent writers; each writes to its own rows and to one that all share. */
  readonly writers: number;
  /** Whether some of them write long texts, so that checkpoints are frequent. */
  readonly bulky: boolean;
}

export class Ledger {
  /** Differences from what was promised. */
  readonly violations: string[] = [];
  /** Writes that were answered, and writes that were not. */
  answered = 0;
  cutOff = 0;
  readonly #options: LedgerOptions;
  readonly #random: (below: number) => number;
  #rows = new Map<string, Known>();
  /** Every row that has ever existed. */
  readonly #used = new Set<string>();
  /** Rows by the writer that they belong to. */
  #owned: Known[][] = [];
  /** Rows that were already deleted at the last comparison. */
  #gone: Known[] = [];
  /** Rows that belong to no writer: others refer to them, or all writers share them. */
  readonly #fixed = new Set<string>();
  /** By name; names are unique. */
  readonly #creating = new Map<string, Creation>();
  #namings: Naming[] = [];
  /** The highest id that a server has returned. */
  readonly #highest = new Map<KindName, number>();
  /** SKUs by the ids of the specification records that they were seen with. */
  #recordOwners = new Map<number, number>();
  #catalog: Catalog | null = null;
  #shared = 0;
  #bulk: number[] = [];
  #names = 0;
  #clock = 0;

  constructor(options: LedgerOptions) {
    this.#options = options;
    this.#random = randomFrom(options.seed);
  }

  /** Creates the rows that the writers refer to. Only the shared rows change later. */
  async prepare(server: Server): Promise<void> {
    this.#catalog = await createCatalog(server);
    const shared = await this.#made(server, 'brands', this.#body('brands'));
    this.#shared = idOf(shared);
    this.#namings = [{ name: nameOf(shared), sent: 0, answered: 0 }];
    for (let nth = 0; nth < (this.#options.bulky ? BULKY : 0); nth += 1) {
      this.#bulk.push(idOf(await this.#made(server, 'goods', this.#body('goods'))));
    }
    for (const collection of COLLECTIONS) {
      for (const item of (await this.#list(server, collection)).values()) {
        this.#fixed.add(`${collection} ${idOf(item)}`);
        this.#remember(collection, item);
      }
    }
  }

  /** Creates an SPU with three texts of this length, which no writer changes. */
  async fill(server: Server, length: number): Promise<void> {
    const text = 'x'.repeat(length);
    const texts = { desc_detail: text, desc_pack: text, desc_service: text };
    const body = { ...this.#body('goods'), ...texts };
    const item = await this.#made(server, 'goods', body);
    this.#fixed.add(`goods ${idOf(item)}`);
    this.#remember('goods', item);
  }

  /** @throws if it is not created: no request may fail before the crash. */
  async #made(server: Server, collection: Collection, body: Item): Promise<Item> {
    const { status, text, json } = await send(server, 'POST', PATHS[collection], { body });
    if (status !== 201) throw new Error(`POST ${PATHS[collection]}: ${status} ${text}`);
    return json;
  }

  /** @returns an equal ledger, for a copy of the directory. No request may be in progress. */
  copy(options: LedgerOptions): Ledger {
    const copy = new Ledger(options);
    copy.#catalog = this.#catalog;
    copy.#shared = this.#shared;
    copy.#bulk = this.#bulk;
    for (const key of this.#fixed) copy.#fixed.add(key);
    copy.#namings = this.#namings.map((naming) => ({ ...naming }));
    copy.#names = this.#names;
    copy.#clock = this.#clock;
    for (const known of this.#rows.values()) {
      if (known.answered === null) continue;
      copy.#remember(known.collection, known.answered).touched = false;
    }
    for (const key of this.#used) copy.#used.add(key);
    copy.#gone = this.#gone.map((known) => ({ ...known }));
    for (const [kind, id] of this.#highest) copy.#highest.set(kind, id);
    copy.#recordOwners = new Map(this.#recordOwners);
    return copy;
  }

  /**
   * Writes, one request after another, until the server ends or a response is wrong.
   *
   * @param index of the writer.
   * @param answered is called with every response; false ends the writing.
   */
  async write(server: Server, index: number, answered: () => boolean): Promise<void> {
    while (await this.#writeOnce(server, index)) {
      this.answered += 1;
      if (!answered()) return;
    }
  }

  /**
   * Reads until the server ends: a value that a reader has seen must not vanish, answered or not.
   *
   * @param going whether to continue.
   */
  async read(server: Server, going: () => boolean): Promise<void> {
    while (going() && (await this.#readOnce(server)));
  }

  /** @returns false if the server has ended. */
  #readOnce(server: Server): Promise<boolean> {
    return this.#random(3) === 0 ? this.#readNewest(server) : this.#readOne(server);
  }

  async #readNewest(server: Server): Promise<boolean> {
    const collection = this.#anyCollection();
    const path = `${PATHS[collection]}?sortby=id&order=desc&page=1&per_page=10`;
    const answer = await this.#get(server, path, [200]);
    for (const item of (answer?.json ?? []) as Item[]) {
      const creation = this.#creating.get(nameOf(item));
      if (creation !== undefined) creation.seen = idOf(item);
      this.#seen(this.#rows.get(`${collection} ${idOf(item)}`), item);
    }
    return answer !== null;
  }

  async #readOne(server: Server): Promise<boolean> {
    const owned = this.#owned[this.#random(this.#options.writers)] ?? [];
    const known = owned[this.#random(owned.length + 1)];
    const path = known === undefined ? `${PATHS.brands}${this.#shared}/` : pathOf(known);
    const answer = await this.#get(server, path, [200, 404, 410]);
    if (answer === null) return false;
    if (known === undefined) this.#seenShared(nameOf(answer.json));
    else this.#seen(known, answer.status === 200 ? answer.json : null);
    return true;
  }

  /** @returns null if there was no response. */
  async #get(server: Server, path: string, statuses: readonly number[]): Promise<Received | null> {
    let answer: Received;
    try {
      answer = await send(server, 'GET', path);
    } catch {
      return null;
    }
    if (statuses.includes(answer.status)) return answer;
    throw new Error(`GET ${path}: ${answer.status} ${answer.text}`);
  }

  /** Names are unique, so a value of a write in progress that a reader sees is durable. */
  #seen(known: Known | undefined, item: Item | null): void {
    if (known?.pending === undefined || !same(item, known.pending)) return;
    known.answered = known.pending;
  }

  #seenShared(seen: string): void {
    const naming = this.#namings.find(({ name }) => name === seen);
    if (naming?.answered === Infinity) naming.answered = this.#clock += 1;
  }

  #remember(collection: Collection, item: Item): Known {
    const id = idOf(item);
    const key = `${collection} ${id}`;
    if (this.#used.has(key)) this.violations.push(`the id of ${key} was used twice`);
    this.#used.add(key);
    const known: Known = { collection, id, answered: item, pending: undefined, touched: true };
    this.#rows.set(key, known);
    this.#highest.set(collection, Math.max(id, this.#highest.get(collection) ?? 0));
    if (!this.#fixed.has(key)) (this.#owned[id % this.#options.writers] ??= []).push(known);
    return known;
  }

  /** @returns false if the server has ended or has made a mistake. */
  #writeOnce(server: Server, index: number): Promise<boolean> {
    const owned = this.#owned[index] ?? [];
    const known = owned[this.#random(owned.length || 1)];
    const bulk = this.#rows.get(`goods ${this.#bulk[index]}`);
    const action = this.#random(100);
    if (action < 4) return this.#rename(server);
    if (action < 16 && bulk !== undefined) return this.#replaceBulk(server, bulk);
    const creating = owned.length < ROWS ? 60 : 35;
    if (known === undefined || action < creating) return this.#create(server);
    if (action < creating + 25) return this.#replace(server, known);
    const deleting = owned.length < ROWS ? 5 : 20;
    if (action >= 100 - deleting) return this.#delete(server, known);
    const specs = known.answered?.['specs'] as readonly Pair[] | undefined;
    if (specs !== undefined && specs.length > 0 && this.#random(3) === 0) {
      return this.#deleteRecord(server, known, specs);
    }
    return this.#change(server, known);
  }

  async #create(server: Server): Promise<boolean> {
    const collection = this.#anyCollection();
    const body = this.#body(collection);
    const name = nameOf(body);
    this.#creating.set(name, {
      collection,
      item: this.#asShown(collection, body, null),
      seen: null,
    });
    const answer = await this.#send(server, 'POST', PATHS[collection], body, 201);
    if (answer === null) return false;
    const { seen } = this.#creating.get(name) as Creation;
    this.#creating.delete(name);
    if (seen !== null && seen !== answer.json.id) {
      this.violations.push(`${name} was seen as ${seen} and answered as ${answer.json.id}`);
    }
    this.#remember(collection, answer.json);
    return true;
  }

  #replace(server: Server, known: Known): Promise<boolean> {
    return this.#put(server, known, this.#body(known.collection));
  }

  #replaceBulk(server: Server, known: Known): Promise<boolean> {
    const body = this.#body('goods');
    const unit = `${nameOf(body)} `;
    const text = unit.repeat(1 + this.#random(LONGEST) / unit.length);
    const texts = { desc_detail: text, desc_pack: text, desc_service: text };
    return this.#put(server, known, { ...body, ...texts });
  }

  async #put(server: Server, known: Known, body: Item): Promise<boolean> {
    const { collection } = known;
    return this.#alter(server, known, this.#asShown(collection, body, known.answered), 'PUT', body);
  }

  #change(server: Server, known: Known): Promise<boolean> {
    const { collection } = known;
    const { name, specs } = this.#body(collection);
    const body = { name, ...(specs !== undefined && { specs }) };
    const pending = this.#asShown(collection, body, known.answered);
    return this.#alter(server, known, pending, 'PATCH', body);
  }

  async #alter(
    server: Server,
    known: Known,
    pending: Item,
    method: 'PUT' | 'PATCH',
    body: Item,
  ): Promise<boolean> {
    begin(known, pending);
    const answer = await this.#send(server, method, pathOf(known), body, 200);
    if (answer === null) return false;
    if (!same(answer.json, pending)) {
      this.violations.push(`${method} ${pathOf(known)} made ${answer.text}`);
    }
    conclude(known, answer.json);
    return true;
  }

  async #delete(server: Server, known: Known): Promise<boolean> {
    begin(known, null);
    if ((await this.#send(server, 'DELETE', pathOf(known), undefined, 204)) === null) return false;
    conclude(known, null);
    this.#disown(known);
    return true;
  }

  /** Deletes one specification record by itself. */
  async #deleteRecord(server: Server, known: Known, specs: readonly Pair[]): Promise<boolean> {
    const path = `${pathOf(known)}specs/`;
    const listed = await this.#get(server, `${path}?per_page=1000`, [200]);
    if (listed === null) return false;
    const records = listed.json as Item[];
    const nth = this.#random(records.length || 1);
    const pending = { ...known.answered, specs: specs.filter((_, index) => index !== nth) };
    begin(known, pending);
    const record = `${path}${idOf(records[nth] as Item)}/`;
    if ((await this.#send(server, 'DELETE', record, undefined, 204)) === null) return false;
    conclude(known, pending);
    return true;
  }

  /** Renames the row that all writers share. */
  async #rename(server: Server): Promise<boolean> {
    const { name } = this.#body('brands') as { name: string };
    const naming: Naming = { name, sent: (this.#clock += 1), answered: Infinity };
    this.#namings.push(naming);
    const path = `${PATHS.brands}${this.#shared}/`;
    if ((await this.#send(server, 'PATCH', path, { name }, 200)) === null) return false;
    naming.answered = this.#clock += 1;
    return true;
  }

  /** @returns null if there was no response, or a wrong one. */
  async #send(server: Server, method: string, path: string, body: unknown, status: number) {
    let answer: Received;
    try {
      answer = await send(server, method, path, { body });
    } catch {
      this.cutOff += 1;
      return null;
    }
    if (answer.status === status) return answer;
    this.violations.push(`${method} ${path}: ${answer.status} ${answer.text}`);
    return null;
  }

  #disown(known: Known): void {
    const owned = this.#owned[known.id % this.#options.writers] ?? [];
    const last = owned.pop();
    if (last !== undefined && last !== known) owned[owned.indexOf(known)] = last;
  }

  #anyCollection(): Collection {
    return COLLECTIONS[this.#random(COLLECTIONS.length)] ?? 'books';
  }

  /** All fields of a request, with a unique name. */
  #body(collection: Collection): Item {
    this.#names += 1;
    const name = `${collection} ${this.#names} \u{1f600}`;
    const { brand, chain, spu, silver, black, large } = this.#catalog as Catalog;
    if (collection === 'books') return { name, pub_date: '1815-12-23' };
    if (collection === 'brands') return { name, logo: 'logo.png', first_letter: 'B' };
    if (collection === 'categories') return { name, parent_id: chain[this.#random(2)] ?? null };
    if (collection === 'goods') {
      return {
        name,
        brand_id: brand,
        category1_id: chain[0],
        category2_id: chain[1],
        category3_id: chain[2],
        desc_detail: name,
        desc_pack: '',
        desc_service: '',
      };
    }
    const pairs = [silver, black, large];
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
      specs: Array.from({ length: this.#random(4) }, () => pairs[this.#random(3)]),
    };
  }

  /** The object that results from writing a body over the current object. */
  #asShown(collection: Collection, body: Item, current: Item | null): Item {
    const { spu_id: spu, specs, ...fields } = body;
    if (collection === 'books') {
      return { commentcount: 0, readcount: 0, image: '', ...current, ...fields };
    }
    if (collection === 'goods') {
      return { brand: 'Phone Works', sales: 0, comments: 0, ...current, ...fields };
    }
    if (collection !== 'skus') return { ...current, ...fields };
    const added = (specs ?? []) as readonly Pair[];
    const kept = (current?.['specs'] ?? []) as readonly Pair[];
    return {
      goods: 'Phone',
      category: 'Phone 3',
      sales: 0,
      code: null,
      ...(spu !== undefined && { goods_id: spu }),
      ...current,
      ...fields,
      specs: [...kept, ...added],
    };
  }

  /** Compares a restarted server with what was answered, and continues from there. */
  async compare(server: Server, round: string): Promise<void> {
    const wrong = (text: string) => void this.violations.push(`${round}: ${text}`);
    for (const collection of COLLECTIONS) {
      const there = await this.#list(server, collection);
      for (const known of this.#rows.values()) {
        if (known.collection !== collection) continue;
        this.#compareRow(known, there.get(known.id) ?? null, wrong);
        there.delete(known.id);
      }
      for (const item of there.values()) this.#compareCreated(collection, item, wrong);
    }
    for (const { item, seen } of this.#creating.values()) {
      if (seen !== null) wrong(`${nameOf(item)} was seen as ${seen} and is gone`);
    }
    this.#creating.clear();
    await this.#compareItems(server, wrong);
    this.#forgetGone();
    await this.#compareIds(server, wrong);
  }

  async #list(server: Server, collection: Collection): Promise<Map<number, Item>> {
    const there = new Map<number, Item>();
    for (let page = 1; ; page += 1) {
      const path = `${PATHS[collection]}?page=${page}&per_page=1000`;
      const items = (await send(server, 'GET', path)).json as Item[];
      for (const item of items) there.set(idOf(item), item);
      if (items.length < 1000) return there;
    }
  }

  #compareRow(known: Known, item: Item | null, wrong: (text: string) => void): void {
    const { collection, id, answered, pending } = known;
    if (collection === 'brands' && id === this.#shared) {
      this.#compareShared(item, answered, wrong);
    } else if (!same(item, answered) && (pending === undefined || !same(item, pending))) {
      wrong(
        `${collection} ${id} is ${show(item)}, answered ${show(answered)}, under way ${show(pending)}`,
      );
    }
    known.answered = item;
    known.pending = undefined;
  }

  /** No answered renaming may have been sent after the response to the one that is there. */
  #compareShared(item: Item | null, before: Item | null, wrong: (text: string) => void): void {
    const latest = Math.max(
      ...this.#namings.map(({ sent, answered }) => (answered === Infinity ? 0 : sent)),
    );
    const found = this.#namings.find(({ name }) => name === item?.['name']);
    const rest = same({ ...item, name: null }, { ...before, name: null });
    if (found === undefined || found.answered < latest || !rest) {
      wrong(`the shared brand is ${show(item)}, after the names ${show(this.#namings)}`);
    }
    const name = (item?.['name'] ?? '') as string;
    this.#namings = [{ name, sent: this.#clock, answered: this.#clock }];
  }

  #compareCreated(collection: Collection, item: Item, wrong: (text: string) => void): void {
    const id = idOf(item);
    const creation = this.#creating.get(nameOf(item));
    this.#creating.delete(nameOf(item));
    if (creation === undefined) wrong(`nobody made ${collection} ${id}: ${show(item)}`);
    else if (!same(item, { ...creation.item, id })) {
      wrong(`${collection} ${id} is half there: ${show(item)}, sent ${show(creation.item)}`);
    } else if (creation.seen !== null && creation.seen !== id) {
      wrong(`${collection} ${id} was seen as ${creation.seen}`);
    }
    this.#remember(collection, item);
  }

  /** Single items equal those of the collections, and deleted ones are 410 or 404. */
  async #compareItems(server: Server, wrong: (text: string) => void): Promise<void> {
    const others = [...[...this.#rows.values()].filter(({ touched }) => !touched), ...this.#gone];
    const sample = Array.from(
      { length: Math.min(SAMPLE, others.length) },
      () => others[this.#random(others.length)],
    );
    const asked = [...this.#rows.values()].filter(({ touched }) => touched);
    for (const known of [...asked, ...sample]) {
      if (known === undefined) continue;
      const { collection, answered } = known;
      known.touched = false;
      const path = pathOf(known);
      const answer = await send(server, 'GET', path);
      const absent = collection === 'books' ? 404 : 410;
      if (answer.status !== (answered === null ? absent : 200)) wrong(`${path}: ${answer.status}`);
      if (answered === null) continue;
      if (!same(answer.json, answered)) wrong(`${path}: ${answer.text}`);
      if (collection === 'skus') await this.#compareRecords(server, known, wrong);
    }
  }

  async #compareRecords(
    server: Server,
    known: Known,
    wrong: (text: string) => void,
  ): Promise<void> {
    const path = `${pathOf(known)}specs/`;
    const records = (await send(server, 'GET', `${path}?per_page=1000`)).json as Item[];
    const pairs = records.map(({ spec_id, option_id }) => ({ spec_id, option_id }));
    if (!same(pairs, known.answered?.['specs'])) wrong(`${path}: ${show(pairs)}`);
    for (const record of records) {
      const id = idOf(record);
      const owner = this.#recordOwners.get(id) ?? known.id;
      if (owner !== known.id) wrong(`${path}: record ${id} was one of SKU ${owner}`);
      this.#recordOwners.set(id, known.id);
    }
  }

  #forgetGone(): void {
    for (const [key, known] of this.#rows) {
      if (known.answered !== null) continue;
      this.#rows.delete(key);
      this.#gone.push(known);
    }
    this.#owned = [];
    for (const [key, known] of this.#rows) {
      if (this.#fixed.has(key)) continue;
      (this.#owned[known.id % this.#options.writers] ??= []).push(known);
    }
  }

  /** New rows get ids above every id that was ever returned. */
  async #compareIds(server: Server, wrong: (text: string) => void): Promise<void> {
    for (const collection of COLLECTIONS) {
      const path = PATHS[collection];
      const highest = this.#highest.get(collection) ?? 0;
      const { json, status, text } = await send(server, 'POST', path, {
        body: this.#body(collection),
      });
      if (status !== 201) wrong(`POST ${path} after the start: ${status} ${text}`);
      else if (json.id <= highest) wrong(`${collection} ${json.id} is an id used before`);
      else this.#remember(collection, json);
    }
  }

  /**
   * Creates an option, which the writers never do, and deletes it. After the next checkpoint only
   * the last ids of the base show that the id was used.
   */
  async spendId(server: Server): Promise<void> {
    const path = '/admin/options/';
    const body = { value: 'Brief', spec_id: (this.#catalog as Catalog).silver.spec_id };
    const { json, status, text } = await send(server, 'POST', path, { body });
    if (status !== 201) throw new Error(`POST ${path}: ${status} ${text}`);
    if (json.id <= (this.#highest.get('options') ?? 0)) {
      this.violations.push(`option ${json.id} is an id used before`);
    }
    this.#highest.set('options', json.id);
    const deleted = await send(server, 'DELETE', `${path}${json.id}/`);
    if (deleted.status !== 204) throw new Error(`DELETE of option ${json.id}: ${deleted.status}`);
  }

  /** Compares the files with what was answered, as far as a server does not show it. */
  compareFiles({ lastIds, rows }: State, when: string): void {
    for (const [kind, id] of this.#highest) {
      const last = lastIds[kind];
      if (last < id) this.violations.push(`${when}: the last id of ${kind} is ${last} after ${id}`);
    }
    for (const { id, sku_id: sku } of rows.sku_specs.values()) {
      if (rows.skus.get(sku ?? null) !== undefined) continue;
      this.violations.push(`${when}: record ${id} is without its SKU ${sku}`);
    }
  }
}

const idOf = (item: Item) => item['id'] as number;
const nameOf = (item: Item) => item['name'] as string;
const pathOf = ({ collection, id }: Known) => `${PATHS[collection]}${id}/`;

function begin(known: Known, pending: Item | null): void {
  known.pending = pending;
  known.touched = true;
}

function conclude(known: Known, item: Item | null): void {
  known.answered = item;
  known.pending = undefined;
}

const show = (value: unknown) => {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 500 ? `${text.slice(0, 500)}… (${text.length})` : text;
};

/** Whether two values are equal, apart from the order of their members. */
function same(a: unknown, b: unknown): boolean {
  return Bun.deepEquals(a, b, true);
}
