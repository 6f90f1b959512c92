/**
 * Transactions against a store on a disk that loses power: what was answered when, what the state
 * is after each change set by a model of plain maps, and what a start may therefore find.
 */
import { join } from 'node:path';
import fc from 'fast-check';
import { DATA_FILES } from '../../src/data-files.ts';
import type { Disk } from '../../src/disk/disk.ts';
import { CatalogError, messageOf } from '../../src/errors.ts';
import { KIND_NAMES, type KindName, RESOURCES, type Row } from '../../src/model/kind.ts';
import { KINDS } from '../../src/model/kinds.ts';
import { entryOf } from '../../src/resources/audit.ts';
import { append } from '../../src/store/bounded.ts';
import { checkStore } from '../../src/store/check.ts';
import type { State as StoreState } from '../../src/store/state.ts';
import type { ReadableStore } from '../../src/store/readable-store.ts';
import type { Transaction } from '../../src/store/writer/draft.ts';
import { changeSetName, occupied } from '../../src/store/files/files.ts';
import { recover } from '../../src/store/files/recovery.ts';
import { changeOf } from '../../src/model/change.ts';
import { Store } from '../../src/store/store.ts';
import { ByAnswers } from './by-answers.ts';
import { Doubts, losses } from './power-cut.ts';
import type { Random } from './random.ts';
import { PowerDisk, type Volume } from './power-disk.ts';
import { turn } from './turns.ts';

/** What one transaction does, one after the other. */
export interface Action {
  readonly does: 'create' | 'update' | 'delete' | 'give up';
  readonly kind: KindName;
  /** Pick the row, and the rows that it refers to. */
  readonly picks: readonly [number, number, number];
  readonly text: string;
}

/** Rounds of transactions: the first of one is a group, and the others wait for the next. */
export type Plan = readonly (readonly (readonly Action[])[])[];

const anAction: fc.Arbitrary<Action> = fc.record({
  does: fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom('create', 'create', 'update', 'delete') },
    { weight: 1, arbitrary: fc.constant('give up') },
  ),
  kind: fc.constantFrom(...KIND_NAMES),
  picks: fc.tuple(fc.nat(9), fc.nat(9), fc.nat(9)),
  text: fc.constantFrom('a', 'B \u{1f600}', '"__proto__"', 'x'.repeat(255)),
});

const aTransaction = fc.array(anAction, { minLength: 1, maxLength: 3 });

/** @param rounds at most. */
export function aPlan(rounds: number): fc.Arbitrary<Plan> {
  const aRound = fc.array(aTransaction, { minLength: 1, maxLength: 4, size: 'max' });
  return fc.array(aRound, { minLength: 1, maxLength: rounds, size: 'max' });
}

const create = (kind: KindName, ...picks: [number, number, number]): Action => {
  return { does: 'create', kind, picks, text: `${kind} ${picks.join()}` };
};

/** One of everything in one transaction, for others to refer to. */
export const FOUNDATION: readonly Action[] = [
  create('brands', 0, 0, 0),
  create('categories', 9, 0, 0),
  create('categories', 0, 0, 0),
  create('categories', 1, 0, 0),
  create('goods', 0, 0, 0),
  create('specs', 0, 0, 0),
  create('options', 0, 0, 0),
  create('skus', 0, 0, 0),
  create('sku_specs', 0, 0, 0),
  create('books', 0, 0, 0),
];

/** Rows by id. */
type Rows = Record<KindName, Map<number, Row>>;

/** What a transaction did to the store, for the model. */
type Write =
  | { readonly wrote: 'id'; readonly kind: KindName; readonly id: number }
  | { readonly wrote: 'row'; readonly kind: KindName; readonly row: Row }
  | { readonly wrote: 'nothing'; readonly kind: KindName; readonly id: number };

interface Attempt {
  /** Of the change set that its group makes. */
  sequence: number;
  readonly writes: Write[];
  committed: boolean;
}

/** The state after some change set. */
interface State {
  readonly sequence: number;
  readonly lastIds: Readonly<Record<KindName, number>>;
  readonly rows: Readonly<Record<KindName, readonly Row[]>>;
}

/** Last ids and rows in the order of their ids: equal states have equal texts. */
function textOf(
  lastId: (kind: KindName) => number,
  rows: (kind: KindName) => Iterable<Row>,
): string {
  return JSON.stringify(KIND_NAMES.map((kind) => [kind, lastId(kind), ...rows(kind)]));
}

export function textOfDocument({ lastIds, rows }: StoreState): string {
  return textOf(
    (kind) => lastIds[kind],
    (kind) => rows[kind].values(),
  );
}

function textOfStore(store: ReadableStore): string {
  return textOf(
    (kind) => store.lastId(kind),
    (kind) => [...store.ids(kind)].map((id) => store.get(kind, id) as Row),
  );
}

function textOfState({ lastIds, rows }: State): string {
  return textOf(
    (kind) => lastIds[kind],
    (kind) => rows[kind],
  );
}

/** A directory with a store, all of it durable. */
export function holding(document: StoreState): Beginning {
  const state = stateOf(document);
  const { sequence } = state;
  return {
    state,
    allowed: [sequence, sequence],
    states: new Map([[sequence, textOfState(state)]]),
  };
}

function stateOf({ sequence, lastIds, rows }: StoreState): State {
  const entries = KIND_NAMES.map((kind) => [kind, [...rows[kind].values()]] as const);
  return {
    sequence,
    lastIds: { ...lastIds },
    rows: Object.fromEntries(entries) as Record<KindName, Row[]>,
  };
}

const NO_STATE: State = {
  sequence: 0,
  lastIds: Object.fromEntries(KIND_NAMES.map((kind) => [kind, 0])) as Record<KindName, number>,
  rows: Object.fromEntries(KIND_NAMES.map((kind) => [kind, []])) as unknown as State['rows'],
};

/** The state from which a run begins. */
interface Beginning {
  /** What the start finds. */
  readonly state: State;
  /** Which states power loss may leave until the start is done; null for none. */
  readonly allowed: readonly [lowest: number | null, highest: number];
  /** By sequence, as text. */
  readonly states: ReadonlyMap<number, string>;
  /** What the checks of an earlier run found; nothing by default. */
  readonly checked?: ByAnswers<Checked>;
}

/** A directory without a store. */
const NOTHING: Beginning = {
  state: NO_STATE,
  allowed: [null, 0],
  states: new Map([[0, textOfState(NO_STATE)]]),
};

/** What is found in one that a power loss left. */
interface Found {
  /** Null if there is no store. */
  readonly sequence: number | null;
  readonly state: State | null;
  /** What is wrong with it regardless of the responses; null if nothing is. */
  readonly fault: string | null;
}

/** What a check makes of a directory: the state, its text, and the first thing that is wrong. */
interface Checked {
  readonly state: State | null;
  readonly text: string;
  readonly finding: string | null;
}

/** Checks a directory: that reads the files as a start does, and judges them as well. */
function checked(disk: Disk, directory: string): Checked {
  try {
    const { findings, state: found } = checkStore(disk, directory);
    const [finding = null] = findings;
    const state = found === null ? null : stateOf(found);
    return { state, text: state === null ? '' : textOfState(state), finding };
  } catch (error) {
    return { state: null, text: '', finding: messageOf(error) };
  }
}

interface RunOptions {
  readonly smallestCheckpoint: number;
  /** Bytes of history; 0 by default. */
  readonly history?: number;
  /** A directory without a store by default. */
  readonly beginning?: Beginning;
}

/** One run of a store from its start to its close, and every moment of its disk in between. */
export class History {
  readonly disk: PowerDisk;
  readonly directory: string;
  /** Changes of the disk before the run. */
  readonly begun: number;
  /** Changes of the disk when the start was done, and when the close was. */
  opened = Number.POSITIVE_INFINITY;
  closed = Number.POSITIVE_INFINITY;
  /** Failures that no transaction asked for. */
  readonly failures: string[] = [];
  readonly #beginning: Beginning;
  /** By sequence, as rows and as text. */
  readonly #states = new Map<number, State>();
  readonly #texts: Map<number, string>;
  /** Changes of the disk when a change set got its name; its number is by the place. */
  readonly #named: number[] = [];
  /** Which change set was answered after how many changes of the disk. */
  readonly #answered: { readonly at: number; readonly sequence: number }[] = [];
  readonly #found = new Map<string, Found>();
  readonly #checked: ByAnswers<Checked>;
  #scanned: number;

  private constructor(disk: PowerDisk, directory: string, beginning: Beginning) {
    this.disk = disk;
    this.directory = directory;
    this.begun = disk.log.length;
    this.#scanned = this.begun;
    this.#beginning = beginning;
    this.#texts = new Map(beginning.states);
    this.#checked = beginning.checked ?? new ByAnswers((found) => checked(found, directory));
    this.#states.set(beginning.state.sequence, beginning.state);
  }

  /** Starts a store, carries a plan out, and closes it. */
  static async run(
    disk: PowerDisk,
    directory: string,
    plan: Plan,
    { smallestCheckpoint, history: kept = 0, beginning = NOTHING }: RunOptions,
  ): Promise<History> {
    const history = new History(disk, directory, beginning);
    const fail = (error: unknown) => void history.failures.push(messageOf(error));
    const store = await Store.open({
      directory,
      command: 'test',
      create: true,
      disk,
      smallestCheckpoint,
      history: kept,
      onError: fail,
      onFatal: fail,
    });
    history.opened = disk.log.length;
    const text = history.#texts.get(beginning.state.sequence);
    if (textOfStore(store) !== text) fail(new Error('the start serves another state'));
    const attempts: Attempt[] = [];
    for (const round of plan) {
      const submitted = round.map(async (actions, nth) => {
        if (nth > 0) await turn();
        await history.#attempt(store, actions, attempts);
      });
      await Promise.all(submitted);
    }
    await store.close();
    history.closed = disk.log.length;
    for (const name of leftovers(disk, directory, kept)) fail(new Error(`${name} is left behind`));
    history.#follow(attempts);
    return history;
  }

  /** The last change set that was written. */
  get last(): number {
    return this.#beginning.state.sequence + this.#commits();
  }

  /** How many times the base was replaced. */
  get checkpoints(): number {
    return this.disk.log.filter(
      (change, at) =>
        at >= this.opened &&
        change.type === 'names' &&
        change.names.some(([name, node]) => name === 'catalog.json' && node !== null),
    ).length;
  }

  /**
   * Which states a power loss after so many changes of the disk may leave: those from the last
   * that was answered, or that a start has begun to serve, to the last that has its name.
   */
  allowed(at: number): readonly [lowest: number | null, highest: number] {
    const { state, allowed } = this.#beginning;
    let [lowest] = allowed;
    if (at >= this.opened) lowest = state.sequence;
    for (const answer of this.#answered) {
      if (answer.at <= at) lowest = Math.max(lowest ?? 0, answer.sequence);
    }
    const named = this.#named.filter((change) => change < at).length;
    return [lowest, state.sequence + named];
  }

  /** @returns what is wrong after a power loss; null if everything is as promised. */
  judge(at: number, left: Volume): string | null {
    const { sequence, fault } = this.#find(left);
    const wrong = (what: string) =>
      `after ${at} changes of ${this.disk.log.length}: ${what}\n${left.describe()}`;
    if (fault !== null) return wrong(fault);
    const [lowest, highest] = this.allowed(at);
    if (sequence === null) return lowest === null ? null : wrong(`no store, answered ${lowest}`);
    if (sequence >= (lowest ?? 0) && sequence <= highest) return null;
    return wrong(`change set ${sequence} is the last, answered ${lowest}, begun ${highest}`);
  }

  /** The first thing that is wrong with what a power loss leaves; see {@link losses}. */
  fault(random: Random, draws: number): string | null {
    for (const { at, left } of losses(this.disk, this.begun, random, draws)) {
      const wrong = this.judge(at, left);
      if (wrong !== null) return wrong;
    }
    return null;
  }

  /** What one power loss leaves at a random moment. */
  randomLoss(random: Random): { at: number; left: Volume } {
    const at = this.begun + random(this.disk.log.length - this.begun + 1);
    const moment = this.disk.moments(at).next().value as readonly [number, Volume];
    const doubts = new Doubts(moment[1], random);
    return { at, left: doubts.leave(doubts.random(random)) };
  }

  /** The state from which a run begins after a power loss. @throws if that is not as promised. */
  after(at: number, left: Volume): Beginning {
    const wrong = this.judge(at, left);
    if (wrong !== null) throw new Error(wrong);
    const { state } = this.#find(left);
    if (state === null) return NOTHING;
    const { sequence } = state;
    return { state, allowed: [sequence, sequence], states: this.#texts, checked: this.#checked };
  }

  /** Where a run begins after this one was killed, the machine going on. */
  afterKill(at: number): Beginning {
    const [lowest, highest] = this.allowed(at);
    const state = this.#states.get(highest);
    if (state === undefined) throw new Error(`no state ${highest}`);
    return { state, allowed: [lowest, highest], states: this.#texts, checked: this.#checked };
  }

  #find(left: Volume): Found {
    const key = left.describe();
    let found = this.#found.get(key);
    if (found === undefined) {
      found = this.#inspect(left);
      this.#found.set(key, found);
    }
    return found;
  }

  #inspect(left: Volume): Found {
    const { state, text, finding } = this.#checked.of(new PowerDisk(this.disk.root, left));
    if (state === null) return { sequence: null, state, fault: finding };
    const { sequence } = state;
    if (finding !== null) return { sequence, state, fault: `check finds ${finding}` };
    if (text === this.#texts.get(sequence)) return { sequence, state, fault: null };
    return { sequence, state, fault: `it is not the state of change set ${sequence}` };
  }

  async #attempt(store: Store, actions: readonly Action[], attempts: Attempt[]): Promise<void> {
    const attempt: Attempt = { sequence: 0, writes: [], committed: false };
    try {
      await store.transact((transaction) => {
        attempt.sequence = this.last + 1;
        attempts.push(attempt);
        for (const action of actions) perform(transaction, action, store, attempt.writes);
      });
    } catch (error) {
      const expected = error instanceof CatalogError && EXPECTED.has(error.code);
      if (!expected) this.failures.push(messageOf(error));
      return;
    }
    attempt.committed = true;
    if (attempt.writes.length === 0) return;
    this.#answered.push({ at: this.disk.log.length, sequence: attempt.sequence });
  }

  /** @returns the number of change sets that have got their names so far. */
  #commits(): number {
    const { log } = this.disk;
    for (; this.#scanned < log.length; this.#scanned += 1) {
      const change = log[this.#scanned];
      if (change?.type !== 'names') continue;
      const next = this.#beginning.state.sequence + this.#named.length + 1;
      const name = changeSetName(next);
      if (change.names.some(([to, node]) => node !== null && name.endsWith(`/${to}`))) {
        this.#named.push(this.#scanned);
      }
    }
    return this.#named.length;
  }

  /** Brings the model forward. */
  #follow(attempts: readonly Attempt[]): void {
    const { state } = this.#beginning;
    const lastIds = { ...state.lastIds };
    const rows = Object.fromEntries(
      KIND_NAMES.map((kind) => [kind, new Map(state.rows[kind].map((row) => [row.id, row]))]),
    ) as Rows;
    for (let sequence = state.sequence + 1; sequence <= this.last; sequence += 1) {
      for (const attempt of attempts) {
        if (attempt.sequence !== sequence || !attempt.committed) continue;
        for (const write of attempt.writes) {
          if (write.wrote === 'id' && write.id !== lastIds[write.kind] + 1) {
            this.failures.push(`${write.kind} ${write.id} follows ${lastIds[write.kind]}`);
          }
          carryOut(rows, lastIds, write);
        }
      }
      const entries = KIND_NAMES.map((kind) => {
        return [kind, [...rows[kind].values()].sort((a, b) => a.id - b.id)] as const;
      });
      const next: State = {
        sequence,
        lastIds: { ...lastIds },
        rows: Object.fromEntries(entries) as Record<KindName, Row[]>,
      };
      this.#states.set(sequence, next);
      this.#texts.set(sequence, textOfState(next));
    }
  }
}

/** Files that should be gone: change sets beyond the history that is kept, half-written files. */
function leftovers(disk: PowerDisk, directory: string, history: number): string[] {
  const { kept = [], leftover = [] } = recover(disk, directory) ?? {};
  const bytes = kept.map((each) => disk.size(join(directory, changeSetName(each))) ?? 0);
  const excess = bytes.reduce((sum, size) => sum + occupied(size), 0) > history ? kept : [];
  const names = [directory, join(directory, DATA_FILES.changes)].flatMap((within) =>
    disk.list(within),
  );
  const temporaries = names.filter((name) => name.endsWith('.tmp'));
  return [...[...leftover, ...excess].map(changeSetName), ...temporaries];
}

/** What transactions of a plan fail with now and then. */
const EXPECTED: ReadonlySet<string> = new Set(['integrity', 'referred_to', 'invalid']);

function carryOut(rows: Rows, lastIds: Record<KindName, number>, write: Write): void {
  if (write.wrote === 'id') lastIds[write.kind] = write.id;
  else if (write.wrote === 'row') rows[write.kind].set(write.row.id, write.row);
  else {
    rows[write.kind].delete(write.id);
    if (write.kind !== 'skus') return;
    for (const [id, row] of rows.sku_specs) {
      if (row['sku_id'] === write.id) rows.sku_specs.delete(id);
    }
  }
}

function perform(
  transaction: Transaction,
  { does, kind, picks, text }: Action,
  store: ReadableStore,
  writes: Write[],
): void {
  if (does === 'give up') throw new CatalogError('integrity', 'the test gives up');
  // Ids that the draft has handed out are beyond the committed ones.
  const pick = (of: KindName, number: number): number | null => {
    const bound = store.lastId(of) + 10;
    for (let id = 1; id <= bound; id += 1) {
      const candidate = ((number + id - 1) % bound) + 1;
      if (transaction.get(of, candidate) !== undefined) return candidate;
    }
    return null;
  };
  const [first, second, third] = picks;
  if (KINDS[kind].weight !== undefined) {
    const values = fieldsOf(transaction, kind, text, { pick, first, second, third });
    append(recording(transaction, writes), kind, values, (_, { rows }) => rows > 3);
    return;
  }
  const chosen = does === 'create' ? null : pick(kind, first);
  if (does !== 'create' && chosen === null) return;
  if (does === 'delete') {
    transaction.delete(kind, chosen as number);
    writes.push({ wrote: 'nothing', kind, id: chosen as number });
    return;
  }
  const id = chosen ?? transaction.nextId(kind);
  if (does === 'create') writes.push({ wrote: 'id', kind, id });
  const row = { id, ...fieldsOf(transaction, kind, text, { pick, first, second, third }) };
  transaction.put(kind, row);
  writes.push({ wrote: 'row', kind, row });
}

/** The same transaction, which also records what it writes. */
function recording(transaction: Transaction, writes: Write[]): Transaction {
  return {
    sequence: transaction.sequence,
    get: (kind, id) => transaction.get(kind, id),
    matching: (kind, attribute, value) => transaction.matching(kind, attribute, value),
    element: (index, run) => transaction.element(index, run),
    latest: (kind, attribute, value) => transaction.latest(kind, attribute, value),
    ids: (kind) => transaction.ids(kind),
    written: () => transaction.written(),
    lastId: (kind) => transaction.lastId(kind),
    nextId(kind) {
      const id = transaction.nextId(kind);
      writes.push({ wrote: 'id', kind, id });
      return id;
    },
    put(kind, row) {
      transaction.put(kind, row);
      writes.push({ wrote: 'row', kind, row });
    },
    delete(kind, id) {
      transaction.delete(kind, id);
      writes.push({ wrote: 'nothing', kind, id });
    },
    *deleteInParts(kind, id) {
      yield* transaction.deleteInParts(kind, id);
      writes.push({ wrote: 'nothing', kind, id });
    },
  };
}

interface Picks {
  readonly pick: (kind: KindName, number: number) => number | null;
  readonly first: number;
  readonly second: number;
  readonly third: number;
}

/** The values of a row; if there is nothing to refer to, the commit refuses it. */
function fieldsOf(
  transaction: Transaction,
  kind: KindName,
  text: string,
  { pick, first, second, third }: Picks,
): Omit<Row, 'id'> {
  const some = (of: KindName, number: number) => pick(of, number) ?? 1e6;
  const above = (category: number) => transaction.get('categories', category)?.parent_id ?? 1e6;
  const leaf = () => {
    const levels = [third, third + 1, third + 2].map((number) => some('categories', number));
    return levels.find((category) => above(above(category)) < 1e6) ?? 1e6;
  };
  switch (kind) {
    case 'books':
      return { name: text, pub_date: '1815-12-23', commentcount: first, readcount: 0, image: '' };
    case 'brands':
      return { name: text, logo: '', first_letter: 'B' };
    case 'categories':
      return { name: text, parent_id: first > 7 ? null : pick('categories', first) };
    case 'goods': {
      const category = leaf();
      return {
        name: text,
        brand_id: some('brands', second),
        category1_id: above(above(category)),
        category2_id: above(category),
        category3_id: category,
        sales: 0,
        comments: 0,
        desc_detail: text.repeat(third),
        desc_pack: '',
        desc_service: '',
      };
    }
    case 'specs':
      return { name: text, goods_id: some('goods', second) };
    case 'options':
      return { value: text, spec_id: some('specs', second) };
    case 'skus':
      return {
        name: text,
        goods_id: some('goods', second),
        caption: '',
        category_id: leaf(),
        price: first,
        cost_price: second,
        market_price: third,
        stock: 0,
        sales: 0,
        is_launched: first > 4,
        code: null,
      };
    case 'sku_specs': {
      const option = some('options', second);
      const spec = transaction.get('options', option)?.['spec_id'] ?? 1e6;
      return { sku_id: some('skus', third), spec_id: spec, option_id: option };
    }
    case 'idempotency_keys': {
      const [key, digest] = [text, text.repeat(second)];
      const answer = { created: third === 0 ? null : third, etag: '', body: text };
      return { key, digest, time: first, ...answer };
    }
    case 'audits': {
      const change = changeOf<KindName>('brands', first + 1, { id: 1, text }, null);
      return entryOf(change, { subject: text, time: second });
    }
    case 'webhooks':
      return {
        url: `http://receiver.example/${first}`,
        resources: JSON.stringify(RESOURCES.slice(second)),
        active: third > 4,
        created: new Date(second).toISOString(),
        failing_since: third > 4 ? null : new Date(third).toISOString(),
        origin: transaction.sequence,
        key: text,
      };
  }
}
