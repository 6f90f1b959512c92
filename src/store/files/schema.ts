/**
 * The schema versions. A migration turns a base of one version into one of the next. Change sets
 * have one form in all versions: the members that came later, `before` and `writer`, are optional.
 */
import * as v from 'valibot';
import type { KindName } from '../../model/kind.ts';
import type { ChangeSet } from '../change-set.ts';
import { shapes } from './change-set.ts';

/** The base document of version 1, without its version, by which the shape is chosen. */
const version1 = v.object({
  sequence: shapes.count,
  previous: shapes.digest,
  last_ids: shapes.lastIds,
  tables: shapes.rows,
});

/** That of each later version: they differ only in the tables and in the attributes of rows. */
const version2 = v.object({ ...version1.entries, time: v.nullable(v.string()) });

/** The base document in the version that this program reads and writes. */
export type BaseDocument = v.InferOutput<typeof version2>;

/** The schema version that this program reads and writes. */
export const SCHEMA_VERSION = 5;

/** The first version with a `head.json`. */
export const HEAD_SINCE = 2;

type Rows = ChangeSet['put'];

interface Migration {
  /** A description for the operator. */
  readonly what: string;
  /** Converts a base, except what `rows` converts. */
  migrate?(base: never): BaseDocument;
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
      migrate: (base: v.InferOutput<typeof version1>) => ({ ...base, time: null }),
    },
  },
  2: {
    shape: version2,
    next: {
      what: 'catalog.json gets an empty table for the audit trail',
      migrate: (base: BaseDocument) => withTable(base, 'audits'),
    },
  },
  3: {
    shape: version2,
    next: {
      what: 'SKUs get an article number, which is null at first',
      rows: withCodes,
    },
  },
  4: {
    shape: version2,
    next: {
      what: 'catalog.json gets an empty table for webhooks, and change sets record their rows as they were before',
      migrate: (base: BaseDocument) => withTable(base, 'webhooks'),
    },
  },
  5: { shape: version2 },
};

function withTable(base: BaseDocument, kind: KindName): BaseDocument {
  return {
    ...base,
    last_ids: { ...base.last_ids, [kind]: 0 },
    tables: { ...base.tables, [kind]: [] },
  };
}

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
  let document = base as BaseDocument;
  for (const { next } of stepsFrom(schema)) {
    document = next.migrate?.(document as never) ?? document;
    document = { ...document, tables: next.rows?.(document.tables) ?? document.tables };
  }
  return document;
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
