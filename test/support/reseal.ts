/** Files of the store with other content and a checksum that fits: what only a program can do. */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DATA_FILES } from '../../src/data-files.ts';
import type { KindName, Scalar } from '../../src/model/kind.ts';
import { machineDisk } from '../../src/disk/disk.ts';
import { changeSetName, listChanges } from '../../src/store/files/files.ts';
import { checksumMember, withChecksum } from '../../src/json/checksum.ts';
import { encodeHead } from '../../src/store/files/head.ts';

const SEAL = /,"sha256":"([0-9a-f]{64})"\}\n$/;

/** A row as a file may contain it, valid or not. */
type FileRow = Record<string, Scalar | readonly Scalar[]>;

export interface BaseFile {
  schema: number;
  sequence: number;
  previous: string;
  time: string | null;
  last_ids: Partial<Record<KindName, number>>;
  tables: Record<KindName, FileRow[]>;
}

export interface ChangeSetFile {
  sequence: number;
  previous: string;
  time: string;
  last_ids: Partial<Record<KindName, number>>;
  put: Partial<Record<KindName, FileRow[]>>;
  delete: Partial<Record<KindName, number[]>>;
}

/** Changes a value in place. */
export type Edit<T> = (value: T) => void;

/** Writes a file with other text and a matching checksum; files that name its digest do not change. */
export function reseal(path: string, edit: (text: string) => string): void {
  const text = edit(readFileSync(path, 'utf8').replace(SEAL, ''));
  const digest = createHash('sha256').update(text).digest('hex');
  writeFileSync(path, text + checksumMember(digest));
}

/**
 * Writes a file with this content and a matching checksum, as docs/storage.md describes it and
 * without the program. @returns its digest.
 */
export function writeChecksummed(path: string, value: object): string {
  const text = JSON.stringify(value).slice(0, -1);
  const digest = createHash('sha256').update(text).digest('hex');
  writeFileSync(path, `${text},"sha256":"${digest}"}\n`);
  return digest;
}

/** The content of a file without its checksum, which may be wrong. */
export function withoutChecksum(path: string): Record<string, unknown> {
  const { sha256: _, ...value } = JSON.parse(readFileSync(path, 'utf8'));
  return value;
}

/** The digest that a file is sealed with. */
export function digestOf(path: string): string {
  return SEAL.exec(readFileSync(path, 'utf8'))?.[1] ?? '';
}

/**
 * Writes another history: edits files, seals them again, and makes every change set and the head
 * name the digest before it. So nothing but the content can be found wrong.
 *
 * @param changes edits of change sets by their number.
 */
export function forge(
  directory: string,
  edits: { base?: Edit<BaseFile>; changes?: Readonly<Record<number, Edit<ChangeSetFile>>> },
): void {
  const base = join(directory, DATA_FILES.base);
  let { sequence, previous: digest } = rewrite<BaseFile>(base, edits.base).value;
  for (const number of listChanges(machineDisk, directory).sequences) {
    const path = join(directory, changeSetName(number));
    const previous = digest;
    digest = rewrite<ChangeSetFile>(path, (value) => {
      value.previous = previous;
      edits.changes?.[number]?.(value);
    }).digest;
    sequence = number;
  }
  writeFileSync(join(directory, DATA_FILES.head), encodeHead({ sequence, digest }));
}

function rewrite<T extends object>(path: string, edit: Edit<T> | undefined) {
  const value = JSON.parse(readFileSync(path, 'utf8').replace(SEAL, '}')) as T;
  // Written by us it would lose the form that has one row a line.
  if (edit === undefined) return { value, digest: digestOf(path) };
  edit(value);
  const { bytes, digest } = withChecksum(value);
  writeFileSync(path, bytes);
  return { value, digest };
}
