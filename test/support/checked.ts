/**
 * Stores of tests, which `check` judges after every test. Importing this file is enough: the hook
 * is attached to uvu's own `test`, and knows a directory as soon as it is created or opened here.
 *
 * A hook that throws would end uvu's run and take the test's own failure along. So findings are
 * printed on standard error, and the file fails when its tests are over.
 */
import { existsSync } from 'node:fs';
import { test } from 'uvu';
import { machineDisk } from '../../src/disk/disk.ts';
import { messageOf } from '../../src/errors.ts';
import type { Kind, KindName } from '../../src/model/kind.ts';
import { ALL_KINDS } from '../../src/model/kinds.ts';
import { scalarAttributes } from '../../src/resources/visible-attributes.ts';
import { checkStore } from '../../src/store/check.ts';
import type { Selection } from '../../src/store/memory/selection.ts';
import { indexedAttributes } from './indexed-attributes.ts';
import type { ReadableStore } from '../../src/store/readable-store.ts';
import { readSnapshot } from '../../src/store/directory.ts';
import { Store } from '../../src/store/store.ts';
import { temporaryDirectory } from './directory.ts';
import { inEveryFile } from './file-hooks.ts';

interface Made {
  /** The test has damaged it, and check has to say so. */
  disorderly: boolean;
  readonly open: Set<Store>;
  /** Where an open store and the files that it wrote were not the same. */
  readonly differences: string[];
}

let made = new Map<string, Made>();
let failed = false;

function register(directory: string): Made {
  const known = made.get(directory) ?? { disorderly: false, open: new Set(), differences: [] };
  made.set(directory, known);
  return known;
}

/** A new empty directory for a store, which is removed when the process ends. */
export function storeDirectory(): string {
  const directory = temporaryDirectory();
  register(directory);
  return directory;
}

/**
 * Says that a test leaves a directory damaged on purpose. Then check has to find something.
 *
 * @returns the directory.
 */
export function leftInDisorder(directory: string): string {
  register(directory).disorderly = true;
  return directory;
}

type Options = Partial<Parameters<typeof Store.open>[0]>;

/**
 * Opens the store of a directory, or makes one there. When it closes, what it shows has to be what
 * is on the disk. What it reports as failed or fatal fails the test, unless the test listens.
 */
export async function openStore(directory: string, options: Options = {}): Promise<Store> {
  const known = register(directory);
  const unwanted = (error: unknown) => {
    throw error;
  };
  const store = await Store.open({
    command: 'test',
    create: true,
    // Most tests are about change sets that the state needs.
    history: 0,
    onError: unwanted,
    onFatal: unwanted,
    ...options,
    directory,
  });
  known.open.add(store);
  const close = store.close.bind(store);
  store.close = async () => {
    await close();
    known.open.delete(store);
    known.differences.push(...differencesOf(directory, store));
  };
  return store;
}

/** What check finds in a directory. */
export function findingsOf(directory: string): readonly string[] {
  return checkStore(machineDisk, directory).findings;
}

function judge({ __test__: name }: { readonly __test__: string }): void {
  const judged = made;
  made = new Map();
  for (const [directory, known] of judged) {
    try {
      for (const fault of faultsOf(directory, known)) tell(`after "${name}": ${fault}`);
    } catch (error) {
      tell(`after "${name}": the check of ${directory} failed: ${messageOf(error)}`);
    }
  }
}

inEveryFile({
  begin() {
    failed = false;
    test.after.each(judge);
  },
  end() {
    for (const directory of made.keys()) tell(`${directory} was made outside of a test`);
    made = new Map();
    return failed;
  },
});

function tell(fault: string): void {
  failed = true;
  process.stderr.write(`${fault}\n`);
}

function faultsOf(directory: string, { disorderly, open, differences }: Made): string[] {
  if (!existsSync(directory)) return [`${directory} is gone, and was not judged`];
  const findings = findingsOf(directory);
  if (disorderly) {
    return findings.length > 0 ? [] : [`${directory} is in order, but left in disorder by word`];
  }
  const now = [...open].flatMap((store) => differencesOf(directory, store));
  return [...findings, ...differences, ...now];
}

/** Holds an open store, its rows and its indexes, against the state that the disk has. */
function differencesOf(directory: string, store: ReadableStore): string[] {
  let disk: ReadableStore;
  try {
    disk = readSnapshot(directory);
  } catch (error) {
    return [messageOf(error)];
  }
  return ALL_KINDS.flatMap((kind) => {
    const questions: [what: string, ask: (from: ReadableStore) => unknown][] = [
      ['last id', (from) => from.lastId(kind.name)],
      ['count', (from) => from.count(kind.name)],
      ['rows', (from) => [...from.ids(kind.name)].map((id) => from.get(kind.name, id))],
      ...indexQuestions(kind, disk),
    ];
    return questions.flatMap(([what, ask]) =>
      Bun.deepEquals(ask(store), ask(disk), true)
        ? []
        : [`${directory}: the open store has another ${what} of ${kind.name} than the disk`],
    );
  });
}

/** Every order of every list, by every value that a row has. */
function indexQuestions(kind: Kind, disk: ReadableStore) {
  const lists: Selection['filters'][] = [[]];
  for (const attribute of indexedAttributes(kind)) {
    const values = [...disk.ids(kind.name)].map((id) => disk.get(kind.name, id)?.[attribute]);
    for (const value of new Set(values)) lists.push([[attribute, value ?? null]]);
  }
  const questions: [what: string, ask: (from: ReadableStore) => unknown][] = [];
  for (const filters of lists) {
    const by = filters.map(([attribute, value]) => `${attribute} ${value}`).join() || 'all';
    for (const sortby of scalarAttributes(kind)) {
      for (const order of ['asc', 'desc'] as const) {
        questions.push([
          `order by ${sortby} ${order} under ${by}`,
          (from) => idsOf(from, kind.name, { filters, sortby, order, offset: 0, limit: Infinity }),
        ]);
      }
    }
  }
  return questions;
}

function idsOf(from: ReadableStore, kind: KindName, selection: Selection): readonly number[] {
  return from.select(kind, selection).ids;
}
