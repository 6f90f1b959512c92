/** Change sets as clients see them (spec 13.1): the rows of published kinds, before and after. */
import { KIND_NAMES, type KindName, type Row } from '../../model/kind.ts';
import { KINDS } from '../../model/kinds.ts';
import type { ChangeSet } from '../../store/change-set.ts';

const PUBLISHED = KIND_NAMES.filter((name) => KINDS[name].published);

/** One changed row. */
export interface PublishedChange {
  readonly resource: KindName;
  /** JSON text of the change, with the subject or with null in its place. */
  text(withSubject: boolean): string;
}

/** Whether anything of a change set is published. */
export function isPublished({ put, delete: deleted }: ChangeSet): boolean {
  return PUBLISHED.some((name) => put[name] !== undefined || deleted[name] !== undefined);
}

/**
 * The changes of a change set, each row once: first what was put, rows before those that refer to
 * them, then what was deleted, in the opposite order. So a reader that applies one after the other
 * never refers to a row that it does not have.
 *
 * @param changeSet as this version writes it: with the rows before.
 */
export function* changesIn(changeSet: ChangeSet): Generator<PublishedChange> {
  const subjects = subjectsIn(changeSet);
  const { put, delete: deleted } = changeSet;
  const before = Object.fromEntries(
    PUBLISHED.map((name) => [name, byId(changeSet.before?.[name] ?? [])]),
  );
  for (const name of PUBLISHED) {
    for (const row of put[name] ?? []) {
      yield changeOf(changeSet, name, row.id, before[name]?.get(row.id) ?? null, row, subjects);
    }
  }
  for (const name of PUBLISHED.toReversed()) {
    for (const id of deleted[name] ?? []) {
      yield changeOf(changeSet, name, id, before[name]?.get(id) ?? null, null, subjects);
    }
  }
}

function changeOf(
  { sequence, time }: ChangeSet,
  resource: KindName,
  id: number,
  before: Row | null,
  after: Row | null,
  subjects: ReadonlyMap<string, string | null>,
): PublishedChange {
  const action = after === null ? 'delete' : before === null ? 'create' : 'update';
  return {
    resource,
    text(withSubject) {
      const subject = withSubject ? (subjects.get(`${resource} ${id}`) ?? null) : null;
      return JSON.stringify({ sequence, time, subject, resource, id, action, before, after });
    },
  };
}

function byId(rows: readonly Row[]): ReadonlyMap<number, Row> {
  return new Map(rows.map((row) => [row.id, row]));
}

/** Who wrote which row last in a change set, by its audit entries. */
function subjectsIn({ put }: ChangeSet): ReadonlyMap<string, string | null> {
  const subjects = new Map<string, string | null>();
  for (const entry of put.audits ?? []) {
    const subject = entry['subject'];
    const name = `${String(entry['resource'])} ${String(entry['resource_id'])}`;
    subjects.set(name, typeof subject === 'string' ? subject : null);
  }
  return subjects;
}
