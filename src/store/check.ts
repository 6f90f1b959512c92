/**
 * The consistency check of files, rows, and the indexes over them. Commits maintain all of this;
 * the check verifies it again from what is on the disk.
 */
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import type { Disk } from '../disk/disk.ts';
import { CatalogError, messageOf } from '../errors.ts';
import { type Attribute, isStored, type Kind, type Row, type Scalar } from '../model/kind.ts';
import { ALL_KINDS } from '../model/kinds.ts';
import { lookupIn } from '../model/rows.ts';
import { duplicate, judge, uniqueAttributes } from '../model/rules.ts';
import { amount, type ValueSchema } from '../model/schemas.ts';
import { earlierSchema } from './files/base.ts';
import { boundFaults } from './bounded.ts';
import type { ChangeSet } from './change-set.ts';
import { changeSetName } from './files/files.ts';
import { MAX_FINDINGS } from './files/history.ts';
import { inspect, type Scrutiny } from './files/recovery.ts';
import { SCHEMA_VERSION } from './files/schema.ts';
import type { RowTable } from './memory/row-table.ts';
import type { State } from './state.ts';

export interface CheckReport {
  /** What is wrong, one sentence each; empty if the store is in order. */
  readonly findings: readonly string[];
  /** The state that was judged; null if there is none. */
  readonly state: State | null;
  /** Change sets after the base. */
  readonly changeSets: number;
}

/** Checks a directory, which a running server may own. Nothing is changed. */
export function checkStore(disk: Disk, directory: string): CheckReport {
  const replay = new ReplayJudge(directory);
  const { recovered, problems } = inspect(disk, directory, replay);
  const findings = problems.map(messageOf);
  if (recovered === null) {
    return { findings: findings.slice(0, MAX_FINDINGS), state: null, changeSets: 0 };
  }
  const { schema, state, files } = recovered;
  const report = (more: readonly string[]) => ({
    findings: [...findings, ...more].slice(0, MAX_FINDINGS),
    state,
    changeSets: files.length,
  });
  if (findings.length > 0) return report([]);
  if (schema !== SCHEMA_VERSION) return report([earlierSchema(directory, schema).message]);
  try {
    return report([
      ...replay.findings(state),
      ...state.indexFaults(),
      ...stateFaults(state),
      ...originFaults(state),
    ]);
  } catch (error) {
    // If a row cannot be read, the rows that refer to it cannot be judged.
    if (error instanceof CatalogError) return report([error.message]);
    throw error;
  }
}

/**
 * Judges every row by itself and with the rows it refers to, and the bounds of tables.
 *
 * @returns at most {@link MAX_FINDINGS}.
 */
export function stateFaults(state: State): string[] {
  return [...faultsOf(state).take(MAX_FINDINGS)];
}

function* faultsOf({ rows, lastIds }: State): Generator<string, void> {
  const lookup = lookupIn((kind, id) => rows[kind].get(id));
  for (const kind of ALL_KINDS) {
    const lastId = lastIds[kind.name];
    for (const row of rows[kind.name].values()) {
      const what = `${kind.label} ${row.id}`;
      if (row.id > lastId) yield `${what}: the last id of ${kind.name} is ${lastId}`;
      for (const fault of valueFaults(kind, row)) yield `${what}: ${fault}`;
      const violation = judge(kind, row, lookup);
      if (violation !== null) yield `${what}: ${violation.attribute}: ${violation.message}`;
    }
    yield* duplicateFaults(kind, rows[kind.name]);
    yield* boundFaults(kind, rows[kind.name], lastId);
  }
}

/** The first of the {@link stateFaults}, and how many more there are; null if there is none. */
export function stateFault(state: State): string | null {
  const [first, ...more] = stateFaults(state);
  if (first === undefined) return null;
  return more.length === 0 ? first : `${first}; and ${more.length} more`;
}

/**
 * Webhooks that claim to have been created after the last change set. They are not among the
 * {@link stateFaults}, for which a backup is refused, because a server delivers to them all the
 * same.
 */
function originFaults({ rows, sequence }: State): string[] {
  return [...rows.webhooks.values()].flatMap(({ id, origin }) =>
    typeof origin === 'number' && origin > sequence
      ? [`webhook ${id}: origin: it is ${origin}, but the last change set is ${sequence}`]
      : [],
  );
}

/** Unique values that two rows share. */
function* duplicateFaults(kind: Kind, rows: Pick<RowTable, 'values'>): Generator<string, void> {
  for (const attribute of uniqueAttributes(kind)) {
    const holders = new Map<Scalar, number>();
    for (const row of rows.values()) {
      const value = row[attribute] ?? null;
      const holder = holders.get(value);
      if (value === null) continue;
      if (holder === undefined) holders.set(value, row.id);
      else {
        const { message } = duplicate(kind, attribute, value, holder);
        yield `${kind.label} ${row.id}: ${attribute}: ${message}`;
      }
    }
  }
}

function valueFaults(kind: Kind, row: Row): string[] {
  const faults: string[] = [];
  for (const [name, attribute] of Object.entries(kind.attributes)) {
    const fault = valueFault(attribute, row[name]);
    if (fault !== null) faults.push(`${name}: ${fault}`);
  }
  for (const name of Object.keys(row)) {
    const declared = kind.attributes[name];
    if (declared === undefined || !isStored(declared))
      faults.push(`${name}: it is not stored here`);
  }
  return faults;
}

function valueFault(attribute: Attribute, value: Scalar | undefined): string | null {
  if (!isStored(attribute)) return null;
  if (value === undefined) {
    return attribute.role === 'internal' && attribute.isNew === true ? null : 'it is missing';
  }
  const schema = storedSchema(attribute);
  if (schema !== undefined) {
    return v.safeParse(schema, value).issues?.[0]?.message ?? null;
  }
  // A value that the service sets keeps the type of its initial value; ids were judged on reading.
  if (attribute.role !== 'serverSet' || typeof value === typeof attribute.initial) return null;
  return `it must be a ${typeof attribute.initial}`;
}

function storedSchema(attribute: Attribute): ValueSchema | undefined {
  if (attribute.role === 'input') return attribute.stored ?? attribute.schema;
  if ('schema' in attribute) return attribute.schema;
  // Numbers that the service sets are counts.
  const isCount = attribute.role === 'serverSet' && typeof attribute.initial === 'number';
  return isCount ? amount : undefined;
}

/** Judges change sets during replay: finds what the state before them does not allow. */
class ReplayJudge implements Scrutiny {
  readonly #directory: string;
  #state: State | null = null;
  #findings: string[] = [];

  constructor(directory: string) {
    this.#directory = directory;
  }

  onReplay(state: State, changeSet: ChangeSet): void {
    // A reader that starts over has another state; findings about the former one are dropped.
    if (this.#state !== state) this.#findings = [];
    this.#state = state;
    if (this.#findings.length >= MAX_FINDINGS) return;
    const path = join(this.#directory, changeSetName(changeSet.sequence));
    for (const fault of changeSetFaults(state, changeSet)) this.#findings.push(`${path}: ${fault}`);
  }

  findings(state: State): readonly string[] {
    return this.#state === state ? this.#findings : [];
  }
}

/** @returns what a change set does that the state before it does not allow. */
export function changeSetFaults(state: State, changeSet: ChangeSet): string[] {
  const faults: string[] = [];
  for (const { name, label, audited } of ALL_KINDS) {
    const [before, after] = [state.lastId(name), changeSet.last_ids[name]];
    if (after !== undefined && after < before) {
      faults.push(`the last id of ${name} goes back from ${before} to ${after}`);
    }
    for (const { id } of changeSet.put[name] ?? []) {
      // A row whose deletion is undone comes back under its id (spec 1.14).
      if (!audited && id <= before && state.get(name, id) === undefined) {
        faults.push(`it uses the id of ${label} ${id} a second time`);
      }
    }
    for (const row of changeSet.before?.[name] ?? []) {
      if (!isDeepStrictEqual(state.get(name, row.id), row)) {
        faults.push(`its record of ${label} ${row.id} before the change does not match the row`);
      }
    }
    for (const id of changeSet.delete[name] ?? []) {
      if (state.get(name, id) === undefined) {
        faults.push(`it deletes ${label} ${id}, which is not there`);
      }
    }
  }
  return faults;
}
