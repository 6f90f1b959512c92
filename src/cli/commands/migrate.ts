/** `migrate`: creates a store, or brings it to the current schema version. */
import demo from '../../../data/demo.json' with { type: 'json' };
import type { Disk } from '../../disk/disk.ts';
import type { FileLock } from '../../disk/lock.ts';
import { CatalogError, messageOf } from '../../errors.ts';
import { KIND_NAMES, type KindName } from '../../model/kind.ts';
import type { RowOf } from '../../model/rows.ts';
import { ownDirectory } from '../../store/directory.ts';
import { recover } from '../../store/files/recovery.ts';
import { type Migrated, migrateStore, planMigration } from '../../store/migration.ts';
import { SCHEMA_VERSION } from '../../store/files/schema.ts';
import { Store } from '../../store/store.ts';
import type { Context } from '../../app/context.ts';

export interface MigrateOptions {
  readonly data: string;
  readonly demo: boolean;
  readonly dryRun: boolean;
}

/**
 * Prints what was done, or with `dryRun` what would be done. The store is closed at the end.
 *
 * @throws CatalogError `store_not_empty` if `demo` is asked for, and ids were used; `store_locked`,
 *   `store_damaged`, `store_unreadable`, `schema_version`, `durability_unknown`, `write_refused`,
 *   `not_primary`, `log_missing`.
 */
export async function migrate(options: MigrateOptions, context: Context): Promise<void> {
  const { data, demo: wantsDemo, dryRun } = options;
  if (wantsDemo) requireUnused(context.disk, data);
  if (dryRun) {
    sayPlan(data, planMigration(data, context.disk), context);
    if (wantsDemo) context.print(`would add the demo catalog: ${describeDemo()}`);
    return;
  }
  const { migrated, store } = await migrateAndOpen(data, wantsDemo, context);
  try {
    if (wantsDemo) requireUnused(context.disk, data);
    sayDone(data, migrated, context);
    if (wantsDemo) {
      await fill(store);
      context.print(`added the demo catalog: ${describeDemo()}`);
    }
  } finally {
    await store.close();
  }
}

/** Under one lock, so that no other command gets the store before this one has reported. */
async function migrateAndOpen(data: string, wantsDemo: boolean, context: Context) {
  const lock = ownDirectory(data, 'migrate');
  let migrated: Migrated | null;
  try {
    migrated = await migrateStore(data, context.disk);
  } catch (error) {
    lock.close();
    throw error;
  }
  const commits = migrated === null || wantsDemo;
  return { migrated, store: await openStore(data, lock, commits, context) };
}

function openStore(
  data: string,
  lock: FileLock,
  commits: boolean,
  context: Context,
): Promise<Store> {
  const give = (what: string) => (error: unknown) =>
    context.warn(`${what}: ${messageOf(error)}`, error);
  return Store.open({
    directory: data,
    command: 'migrate',
    lock,
    create: true,
    commits,
    disk: context.disk,
    // `serve` decides how much history is kept.
    history: Number.POSITIVE_INFINITY,
    onError: give('the store continues despite an error'),
    onFatal(error) {
      give('the store stopped')(error);
      process.exit(1);
    },
  });
}

function sayPlan(data: string, plan: Migrated | null, { print }: Context): void {
  if (plan === null) {
    print(`would create ${data} at schema version ${SCHEMA_VERSION}`);
    return;
  }
  const { steps, backup: kept } = plan;
  for (const { to, what } of steps) print(`would migrate ${data} to schema version ${to}: ${what}`);
  print(
    steps.length === 0
      ? `${data} is at schema version ${SCHEMA_VERSION}; no migration would run`
      : `would keep the files as they are in ${kept} until the next checkpoint`,
  );
}

function sayDone(data: string, done: Migrated | null, { print }: Context): void {
  if (done === null) {
    print(`created ${data} at schema version ${SCHEMA_VERSION}`);
    return;
  }
  const { steps, backup: kept } = done;
  for (const { to, what } of steps) print(`migrated ${data} to schema version ${to}: ${what}`);
  print(
    steps.length === 0
      ? `${data} is at schema version ${SCHEMA_VERSION}; nothing to do`
      : `the previous files are kept in ${kept} until the next checkpoint`,
  );
}

const TABLES: { readonly [K in KindName]?: readonly RowOf<K>[] } = demo;

/** The demo's ids begin at 1, and an id that was used once is never used again. */
function requireUnused(disk: Disk, directory: string): void {
  const lastIds = recover(disk, directory, 'older')?.state.lastIds;
  if (lastIds === undefined || KIND_NAMES.every((kind) => lastIds[kind] === 0)) return;
  throw new CatalogError(
    'store_not_empty',
    `${directory} is not empty; name an unused directory with --data for the demo catalog`,
  );
}

/** One commit, so that the demo catalog is added completely or not at all. */
function fill(store: Store): Promise<void> {
  return store.transact((transaction) => {
    for (const kind of KIND_NAMES) {
      for (const row of TABLES[kind] ?? []) {
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
    .map(([kind, name]) => `${TABLES[kind as KindName]?.length} ${name}`)
    .join(', ');
}
