/**
 * The names of an archive's objects. A name gives the position of its object in the history, so a
 * listing shows how far the archive is without reading objects.
 *
 *     archive.json                                     what the archive is
 *     writer.json                                      which server writes it
 *     bases/<sequence>-<schema>-<time>-<digest>        the catalog as of a change set
 *     changes/<first>-<last>-<time>-<digest>           consecutive change sets
 *     gaps/<sequence>                                  after this change set some are missing
 *     private                                          accounts and keys; only encrypted
 *
 * Sequences have 12 digits, schemas 4, times are like `20261121T142737505Z`, and the digest is that
 * of the last change set. So names sort by position, and two histories never share a name.
 */

export const MANIFEST = 'archive.json';
export const WRITER = 'writer.json';
export const PRIVATE = 'private';
export const BASES = 'bases';
export const CHANGES = 'changes';
export const GAPS = 'gaps';

const TOP_NAMES: ReadonlySet<string> = new Set([MANIFEST, WRITER, PRIVATE, BASES, CHANGES, GAPS]);

/** Whether the program gives this name to an entry at the top of an archive. */
export function isArchiveName(name: string): boolean {
  return TOP_NAMES.has(name);
}

/** A base that is in an archive. */
export interface ArchivedBase {
  readonly name: string;
  readonly sequence: number;
  /** The schema version of its rows. */
  readonly schema: number;
  /** When its last change set was made, ISO 8601, UTC; null before the first one. */
  readonly time: string | null;
  /** The digest of its last change set. */
  readonly digest: string;
}

/** The change sets of one object of an archive. */
export interface ArchivedChanges {
  readonly name: string;
  readonly first: number;
  readonly last: number;
  /** When the last of them was made, ISO 8601, UTC. */
  readonly time: string;
  /** The digest of the last of them. */
  readonly digest: string;
}

const BASE = /^(\d{12})-(\d{4})-(\d{8}T\d{9}Z|-)-([0-9a-f]{64})$/;
const CHANGE = /^(\d{12})-(\d{12})-(\d{8}T\d{9}Z)-([0-9a-f]{64})$/;

type Nameless<T> = Omit<T, 'name'>;

/** @returns the name in `bases/`. */
export function baseName({ sequence, schema, time, digest }: Nameless<ArchivedBase>): string {
  const version = String(schema).padStart(4, '0');
  return `${digits(sequence)}-${version}-${time === null ? '-' : compact(time)}-${digest}`;
}

/** @returns null if it is not the name of a base. */
export function parseBaseName(name: string): ArchivedBase | null {
  const [, sequence, schema, time, digest] = BASE.exec(name) ?? [];
  if (sequence === undefined || time === undefined || digest === undefined) return null;
  return {
    name,
    sequence: Number(sequence),
    schema: Number(schema),
    time: time === '-' ? null : expanded(time),
    digest,
  };
}

/** @returns the name in `changes/`. */
export function changesName({ first, last, time, digest }: Nameless<ArchivedChanges>): string {
  return `${digits(first)}-${digits(last)}-${compact(time)}-${digest}`;
}

/** @returns null if it is not the name of change sets. */
export function parseChangesName(name: string): ArchivedChanges | null {
  const [, first, last, time, digest] = CHANGE.exec(name) ?? [];
  if (first === undefined || time === undefined || digest === undefined) return null;
  return { name, first: Number(first), last: Number(last), time: expanded(time), digest };
}

/** @returns the name in `gaps/` of a gap after a change set. */
export function gapName(sequence: number): string {
  return digits(sequence);
}

/** @returns a text without the names of bases and of change sets, and without their folders. */
export function withoutNames(text: string): string {
  return text.replace(/(?:(?:bases|changes)\/)?\d{12}-[\dTZa-f-]+/g, '');
}

/** @returns a name that sorts before those from `sequence` on, and after all others. */
export function namesBefore(sequence: number): string {
  return digits(Math.max(sequence, 0));
}

function digits(sequence: number): string {
  return String(sequence).padStart(12, '0');
}

/** `20261121T142737505Z`: it sorts by time, and is a valid name in every store. */
function compact(time: string): string {
  return time.replace(/[-:.]/g, '');
}

function expanded(time: string): string {
  return time.replace(
    /^(\d{4})(\d\d)(\d\dT\d\d)(\d\d)(\d\d)(\d{3}Z)$/,
    (_, year, month, day, minute, second, rest) =>
      `${year}-${month}-${day}:${minute}:${second}.${rest}`,
  );
}
