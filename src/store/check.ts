/**
 * Whether a store is what it should be: its files, its rows, and the indexes that follow from
 * them. The commits kept all of this already; here it is judged anew, from what is on the disk.
 */
import { join } from 'node:path';
import * as v from 'valibot';
import type { Disk } from '../disk/disk.ts';
import { messageOf } from '../errors.ts';
import { type Attribute, isStored, type Kind, type Row, type Scalar } from '../model/kind.ts';
import { ALL_KINDS, KINDS } from '../model/kinds.ts';
import { lookupIn } from '../model/rows.ts';
import { judge } from '../model/rules.ts';
import type { ValueSchema } from '../model/schemas.ts';
import { earlierSchema } from './files/base.ts';
import { boundFaults } from './bounded.ts';
import type { ChangeSet } from './files/change-set.ts';
import type { StoreState } from './state.ts';
import { changeSetName } from './files/files.ts';
import { inspect } from './files/load.ts';
import { SCHEMA_VERSION } from './files/schema.ts';
import { type Change, changeOf } from '../model/change.ts';
import { Tables } from './memory/tables.ts';

/** Findings of one check at most; one cause tends to have many. */
const MAX_FINDINGS = 1000;

export interface CheckReport {
  /** What is wrong, a sentence each; empty where all is well. */
  readonly findings: readonly string[];
  /** The state that was judged; null where there is none. */
  readonly document: StoreState | null;
  /** Change sets behind the base. */
  readonly changeSets: number;
}

/** Judges a directory, beside a running server too. Nothing is changed. */
export function checkStore(disk: Disk, directory: string): CheckReport {
  const replay = new Replay(directory);
  const { loaded, problems } = inspect(disk, directory, replay.follow);
  const findings = problems.map(messageOf);
  if (loaded === null) return { findings, document: null, changeSets: 0 };
  const { schema, document, files } = loaded;
  const report = (more: readonly string[]) => ({
    findings: [...findings, ...more].slice(0, MAX_FINDINGS),
    document,
    changeSets: files.length,
  });
  if (findings.length > 0) return report([]);
  if (schema !== SCHEMA_VERSION) return report([earlierSchema(directory, schema).message]);
  return report([...replay.judge(document), ...checkDocument(document)]);
}

/** Judges every row by itself and with those it refers to, and the bounds of tables. */
export function checkDocument(document: StoreState): string[] {
  const findings: string[] = [];
  const lookup = lookupIn((kind, id) => document.rows[kind].get(id));
  for (const kind of ALL_KINDS) {
    const lastId = document.lastIds[kind.name];
    for (const row of document.rows[kind.name].values()) {
      const what = `${kind.label} ${row.id}`;
      if (row.id > lastId) findings.push(`${what}: the last id of ${kind.name} is ${lastId}`);
      for (const fault of valueFaults(kind, row)) findings.push(`${what}: ${fault}`);
      const violation = judge(kind, row, lookup);
      if (violation !== null)
        findings.push(`${what}: ${violation.attribute}: ${violation.message}`);
      if (findings.length >= MAX_FINDINGS) return findings;
    }
    findings.push(...boundFaults(kind, document.rows[kind.name], lastId));
  }
  return findings;
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
  // What the service sets keeps the type that it begins with; an id has been judged on reading.
  if (attribute.role !== 'serverSet' || typeof value === typeof attribute.initial) return null;
  return `it must be a ${typeof attribute.initial}`;
}

function storedSchema(attribute: Attribute): ValueSchema | undefined {
  if (attribute.role === 'input') return attribute.stored ?? attribute.schema;
  return 'schema' in attribute ? attribute.schema : undefined;
}

/** Follows the change sets with indexes that are kept in place, as the server did. */
class Replay {
  readonly #directory: string;
  #document: StoreState | null = null;
  #tables: Tables | null = null;
  #findings: string[] = [];

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Takes in one change set, before the document does. */
  readonly follow = (document: StoreState, changeSet: ChangeSet): void => {
    const tables = this.#tablesOf(document);
    const find = (what: string) =>
      this.#findings.push(`${join(this.#directory, changeSetName(changeSet.sequence))}: ${what}`);
    for (const { name } of ALL_KINDS) {
      const [before, after] = [document.lastIds[name], changeSet.last_ids[name]];
      if (after !== undefined && after < before) {
        find(`the last id of ${name} goes back from ${before} to ${after}`);
      }
    }
    const changes = changesOf(document, changeSet);
    for (const { kind, id, before, after } of changes) {
      const what = `${KINDS[kind].label} ${id}`;
      if (before !== null) continue;
      if (after === null) find(`it deletes ${what}, which is not there`);
      else if (id <= document.lastIds[kind]) find(`it uses the id of ${what} a second time`);
    }
    try {
      tables.apply(changes);
    } catch (error) {
      find(messageOf(error));
    }
  };

  /** @returns what the change sets did wrong, and what in the indexes contradicts the rows. */
  judge(document: StoreState): string[] {
    const faults = this.#tablesOf(document).faults();
    return [...this.#findings, ...faults];
  }

  /** A reader that starts over has another document, which is judged by itself. */
  #tablesOf(document: StoreState): Tables {
    if (this.#tables === null || this.#document !== document) {
      this.#findings = [];
      this.#document = document;
      this.#tables = new Tables(document.rows);
    }
    return this.#tables;
  }
}

function changesOf({ rows }: StoreState, changeSet: ChangeSet): Change[] {
  return ALL_KINDS.flatMap(({ name }) => {
    const before = (id: number) => rows[name].get(id) ?? null;
    const put = (changeSet.put[name] ?? []).map((row) =>
      changeOf(name, row.id, before(row.id), row),
    );
    const deleted = (changeSet.delete[name] ?? []).map((id) =>
      changeOf(name, id, before(id), null),
    );
    return [...put, ...deleted];
  });
}
