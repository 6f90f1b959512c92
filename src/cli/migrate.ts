/** `migrate`: creates a store, or brings it to the current schema version. */
import demo from '../../data/demo.json' with { type: 'json' };
import { machineDisk } from '../disk/disk.ts';
import { CatalogError, messageOf } from '../errors.ts';
import { KIND_NAMES, type KindName, type Row } from '../model/kind.ts';
import { SCHEMA_VERSION } from '../store/base.ts';
import { load } from '../store/adapter.ts';
import { type ReadableStore, readSnapshot, Store } from '../store/store.ts';
import type { Context } from './context.ts';

export interface MigrateOptions {
  readonly data: string;
  readonly demo: boolean;
  readonly dryRun: boolean;
}

export async function migrate(options: MigrateOptions, context: Context): Promise<void> {
  const { data, dryRun } = options;
  if (dryRun) {
    const exists = load(machineDisk, data) !== null;
    if (exists && options.demo) requireUnused(data, readSnapshot(data));
    context.print(
      exists
        ? `${data} is at schema version ${SCHEMA_VERSION}; no migration would run`
        : `would create ${data} at schema version ${SCHEMA_VERSION}`,
    );
    if (options.demo) context.print(`would add the demo catalog: ${describeDemo()}`);
    return;
  }
  const give = (what: string) => (error: unknown) =>
    context.warn(`${what}: ${messageOf(error)}`, error);
  const store = await Store.open({
    directory: data,
    command: 'migrate',
    create: true,
    failed: give('the store goes on, but'),
    fatal(error) {
      give('the store cannot go on')(error);
      process.exit(1);
    },
  });
  try {
    if (options.demo) requireUnused(data, store);
    context.print(
      store.created
        ? `created ${data} at schema version ${SCHEMA_VERSION}`
        : `${data} is at schema version ${SCHEMA_VERSION}; nothing to do`,
    );
    if (options.demo) {
      await fill(store);
      context.print(`added the demo catalog: ${describeDemo()}`);
    }
  } finally {
    await store.close();
  }
}

const TABLES = demo as unknown as Readonly<Record<KindName, readonly Row[]>>;

/** The demo's ids begin at 1, and an id that was used once is never used again. */
function requireUnused(directory: string, store: ReadableStore): void {
  if (KIND_NAMES.every((kind) => store.lastId(kind) === 0)) return;
  throw new CatalogError(
    'store_not_empty',
    `${directory} is not empty; name an unused directory with --data for the demo catalog`,
  );
}

/** One commit: the demo catalog is there whole or not at all. */
function fill(store: Store): Promise<void> {
  return store.transact((transaction) => {
    for (const kind of KIND_NAMES) {
      for (const row of TABLES[kind]) {
        const id = transaction.nextId(kind);
        if (id !== row.id) throw new Error(`the demo catalog has a gap before ${kind} ${row.id}`);
        transaction.put(kind, row);
      }
    }
  });
}

function describeDemo(): string {
  const counts = { books: 'books', goods: 'SPUs', skus: 'SKUs', brands: 'brands' } as const;
  return Object.entries(counts)
    .map(([kind, name]) => `${TABLES[kind as KindName].length} ${name}`)
    .join(', ');
}
