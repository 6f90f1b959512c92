/**
 * The schema versions. A migration turns a base of one version into one of the next. Change sets
 * have one form in all versions: the members that came later, `before` and `writer`, are optional.
 */
import * as v from 'valibot';
import type { ChangeSet } from '../change-set.ts';
import { shapes } from './change-set.ts';

const version1 = v.object({
  schema: v.literal(1),
  sequence: shapes.count,
  previous: shapes.digest,
  last_ids: shapes.lastIds,
  tables: shapes.rows,
});

const version2 = v.object({
  ...version1.entries,
  schema: v.literal(2),
  time: v.nullable(v.string()),
});

const version3 = v.object({ ...version2.entries, schema: v.literal(3) });

const version4 = v.object({ ...version3.entries, schema: v.literal(4) });

const version5 = v.object({ ...version4.entries, schema: v.literal(5) });

/** The base document in the version that this program reads and writes. */
export type BaseDocument = v.InferOutput<typeof version5>;

/** The schema version that this program reads and writes. */
export const SCHEMA_VERSION = 5;

/** The first version with a `head.json`. */
export const HEAD_SINCE = 2;

type Rows = ChangeSet['put'];

interface Migration {
  /** A description for the operator. */
  readonly what: string;
  /** Converts a base, except what `rows` converts. */
  migrate(base: never): { readonly tables: Rows };
  /** Converts rows by table, those of a base as well as those of the change sets after it. */
  rows?(rows: Rows): Rows;
}

interface Version {
  readonly shape: v.GenericSchema;
  /** The migration to the next version. */
  readonly next?: Migration;
}

const VERSIONS: Readonly<Record<number, Version>> = {
  1: {
    shape: version1,
    next: {
      what: 'head.json is added, which shows when the last change sets are lost, and catalog.json gets the time of its last change set',
      migrate: (base: v.InferOutput<typeof version1>): v.InferOutput<typeof version2> => ({
        ...base,
        schema: 2,
        time: null,
      }),
    },
  },
  2: {
    shape: version2,
    next: {
      what: 'catalog.json gets an empty table for the audit trail',
      migrate: (base: v.InferOutput<typeof version2>): v.InferOutput<typeof version3> => ({
        ...base,
        schema: 3,
        last_ids: { ...base.last_ids, audits: 0 },
        tables: { ...base.tables, audits: [] },
      }),
    },
  },
  3: {
    shape: version3,
    next: {
      what: 'SKUs get an article number, which is null at first',
      migrate: (base: v.InferOutput<typeof version3>): v.InferOutput<typeof version4> => ({
        ...base,
        schema: 4,
      }),
      rows: withCodes,
    },
  },
  4: {
    shape: version4,
    next: {
      what: 'catalog.json gets an empty table for webhooks, and change sets record their rows as they were before',
      migrate: (base: v.InferOutput<typeof version4>): BaseDocument => ({
        ...base,
        schema: 5,
        last_ids: { ...base.last_ids, webhooks: 0 },
        tables: { ...base.tables, webhooks: [] },
      }),
    },
  },
  5: { shape: version5 },
};

function withCodes(rows: Rows): Rows {
  const { skus } = rows;
  if (skus === undefined) return rows;
  return { ...rows, skus: skus.map((sku) => ({ ...sku, code: null })) };
}

/** @returns a change set after a base of any version, in the form of the current version. */
export function migratedChangeSet(schema: number, changeSet: ChangeSet): ChangeSet {
  let { put } = changeSet;
  for (const { next } of stepsFrom(schema)) put = next.rows?.(put) ?? put;
  return put === changeSet.put ? changeSet : { ...changeSet, put };
}

/** @returns the shape of a base of a version; undefined if there never was such a version. */
export function shapeOf(schema: number): v.GenericSchema | undefined {
  return VERSIONS[schema]?.shape;
}

/** @returns a base of any version in the form of the current version. */
export function migrated(schema: number, base: unknown): BaseDocument {
  let document = base;
  for (const { next } of stepsFrom(schema)) {
    const converted = next.migrate(document as never);
    document =
      next.rows === undefined ? converted : { ...converted, tables: next.rows(converted.tables) };
  }
  return document as BaseDocument;
}

/** @returns what each migration from a version to the current one does, in order. */
export function migrationsFrom(schema: number): { to: number; what: string }[] {
  return stepsFrom(schema).map(({ to, next }) => ({ to, what: next.what }));
}

function stepsFrom(schema: number) {
  const steps: { to: number; next: Migration }[] = [];
  for (let from = schema; from < SCHEMA_VERSION; from += 1) {
    const next = VERSIONS[from]?.next;
    if (next === undefined) throw new Error(`there is no migration from schema version ${from}`);
    steps.push({ to: from + 1, next });
  }
  return steps;
}
