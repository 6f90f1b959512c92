/** Change sets as clients see them (spec 14.1): the rows of published kinds, before and after. */
import { KIND_NAMES, type KindName, type Row } from '../../model/kind.ts';
import { KINDS } from '../../model/kinds.ts';
import { referencesOf } from '../../model/rules.ts';
import type { ChangeSet } from '../../store/change-set.ts';
import { parentsFirst } from './parents-first.ts';

const PUBLISHED = KIND_NAMES.filter((name) => KINDS[name].published);

/** The attribute by which rows of a kind refer to others of the same kind, such as `parent_id`. */
const PARENTS = new Map(
  PUBLISHED.flatMap((name) =>
    referencesOf(KINDS[name])
      .filter(({ to }) => to === name)
      .map(({ attribute }) => [name, attribute]),
  ),
);

/** Rows that are read between two pauses. */
const STEP_ROWS = 256;

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
 * The changes of a change set, each row once: first the rows that were put, each before the rows
 * that refer to it, then the deleted ones in the opposite order. So a reader that applies them one
 * by one never has a reference to a missing row.
 *
 * Every version gives them in this order: after an update, deliveries to webhooks continue within a
 * change set.
 *
 * @param changeSet as this version writes it: with the rows as they were before.
 * @returns null for a step in which no change was found: a reader may pause at each.
 */
export function* changesIn(changeSet: ChangeSet): Generator<PublishedChange | null> {
  const trail = yield* trailIn(changeSet);
  const { put, delete: deleted } = changeSet;
  for (const name of PUBLISHED) {
    const before = yield* byId(changeSet.before?.[name] ?? []);
    for (const row of yield* inOrder(name, put[name] ?? [])) {
      yield changeOf(changeSet, name, row.id, before.get(row.id), row, trail);
    }
  }
  for (const name of PUBLISHED.toReversed()) {
    const before = yield* byId(changeSet.before?.[name] ?? []);
    for (const id of yield* childrenFirst(name, deleted[name] ?? [], before, trail)) {
      yield changeOf(changeSet, name, id, before.get(id), null, trail);
    }
  }
}

function* inOrder(name: KindName, rows: readonly Row[]): Generator<null, readonly Row[]> {
  const attribute = PARENTS.get(name);
  return attribute === undefined ? rows : yield* parentsFirst(rows, attribute);
}

/** The ids of deleted rows, each before the one that its row referred to. */
function* childrenFirst(
  name: KindName,
  ids: readonly number[],
  before: ReadonlyMap<number, Row>,
  trail: ReadonlyMap<string, TrailedRow>,
): Generator<null, readonly number[]> {
  if (!PARENTS.has(name)) return ids;
  const rows: Row[] = [];
  for (const id of ids.toReversed()) {
    rows.push(before.get(id) ?? formerOf(trail.get(`${name} ${id}`)) ?? { id });
    if (rows.length % STEP_ROWS === 0) yield null;
  }
  return (yield* inOrder(name, rows)).map(({ id }) => id).toReversed();
}

function changeOf(
  { sequence, time }: ChangeSet,
  resource: KindName,
  id: number,
  stated: Row | undefined,
  after: Row | null,
  trail: ReadonlyMap<string, TrailedRow>,
): PublishedChange {
  return {
    resource,
    text(withSubject) {
      const trailed = trail.get(`${resource} ${id}`);
      const before = stated ?? formerOf(trailed);
      const action = after === null ? 'delete' : before === null ? 'create' : 'update';
      const subject = withSubject ? (trailed?.subject ?? null) : null;
      return JSON.stringify({ sequence, time, subject, resource, id, action, before, after });
    },
  };
}

function formerOf(trailed: TrailedRow | undefined): Row | null {
  const former = trailed?.before ?? null;
  return former === null ? null : (JSON.parse(former) as Row);
}

function* byId(rows: readonly Row[]): Generator<null, ReadonlyMap<number, Row>> {
  const found = new Map<number, Row>();
  for (const row of rows) {
    found.set(row.id, row);
    if (found.size % STEP_ROWS === 0) yield null;
  }
  return found;
}

/** What the audit entries of a change set say about a row. */
interface TrailedRow {
  /** Who wrote it last. */
  readonly subject: string | null;
  /** JSON text of the row before the first of the writes; null if there was no row. */
  readonly before: string | null;
}

function* trailIn({ put }: ChangeSet): Generator<null, ReadonlyMap<string, TrailedRow>> {
  const trail = new Map<string, TrailedRow>();
  for (const [index, entry] of (put.audits ?? []).entries()) {
    if (index > 0 && index % STEP_ROWS === 0) yield null;
    const name = `${String(entry['resource'])} ${String(entry['resource_id'])}`;
    const before = trail.get(name)?.before;
    trail.set(name, {
      subject: textOrNull(entry['subject']),
      before: before === undefined ? textOrNull(entry['before']) : before,
    });
  }
  return trail;
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
