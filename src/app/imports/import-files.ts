/** Files and states of imports, in `<data>/imports/` (spec 12.10). */
import { randomInt, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { DATA_FILES } from '../../data-files.ts';
import type { Disk } from '../../disk/disk.ts';
import { makeDirectory, removeTemporaries, replaceFile } from '../../disk/durable-file.ts';
import { readFile } from '../../disk/read-file.ts';
import { CatalogError, messageOf } from '../../errors.ts';
import type { ImportStorage } from '../../resources/transfer/imports.ts';
import { bounded, piecesOf } from '../../streams.ts';

const STATE = /^(\d+)\.json$/;
const FILE = /^(\d+)\.file$/;

/** Bytes that are read in one turn of the event loop. */
const PIECE_BYTES = 16 * 1024;

/** The folder of imports in a data directory. */
export function importFolder(data: string): string {
  return join(data, DATA_FILES.imports);
}

/** A file of the folder, with the namespace of its ids. */
const NAMESPACE = 'namespace';

/** The first ids of hosts are multiples of this, so that those of two hosts hardly ever meet. */
const HOST_IDS = 1000;

/**
 * Creates the folder, if needed, and removes what an earlier process left half-written.
 *
 * @param amongHosts whether another host may be asked for these imports, as one that has taken the
 *   place of this one. With the same ids, it would answer with an import of its own.
 */
export async function openImportFiles(
  disk: Disk,
  data: string,
  amongHosts = false,
): Promise<ImportStorage> {
  const folder = importFolder(data);
  await makeDirectory(disk, folder);
  await removeTemporaries(disk, folder);
  const statePath = (id: number) => join(folder, `${id}.json`);
  const filePath = (id: number) => join(folder, `${id}.file`);
  const idsOf = (pattern: RegExp) =>
    disk.list(folder).flatMap((name) => {
      const [, id] = pattern.exec(name) ?? [];
      return id === undefined ? [] : [Number(id)];
    });
  let namespace: Promise<string> | null = null;
  return {
    receive: (id, source) => receive(disk, filePath(id), source),
    read: (id) => readInTurns(disk, filePath(id)),
    discard: (id) => disk.unlink(filePath(id)),
    save: (id, text) => replaceFile(disk, statePath(id), Buffer.from(text)),
    load: (id) => readFile(disk, statePath(id)),
    forget: (id) => disk.unlink(statePath(id)),
    namespace() {
      namespace ??= keptNamespace(disk, join(folder, NAMESPACE)).catch((error: unknown) => {
        namespace = null;
        throw error;
      });
      return namespace;
    },
    // An earlier version, or a host that was alone, may have counted from 1.
    idAfter: (last) =>
      amongHosts && last < HOST_IDS ? HOST_IDS * randomInt(1, 1_000_000) : last + 1,
    ids: () => ({ states: idsOf(STATE), files: idsOf(FILE) }),
  };
}

/** @returns the namespace that is kept; if there is none, a new one, which is kept now. */
async function keptNamespace(disk: Disk, path: string): Promise<string> {
  const kept = readFile(disk, path);
  if (kept !== null) return kept.toString();
  const made = randomUUID();
  await replaceFile(disk, path, Buffer.from(made));
  return made;
}

async function receive(
  disk: Disk,
  path: string,
  source: AsyncIterable<Uint8Array>,
): Promise<number> {
  let size = 0;
  const fd = await disk.create(path);
  try {
    try {
      for await (const bytes of source) {
        writeTo(disk, fd, path, bytes);
        size += bytes.length;
      }
    } finally {
      disk.close(fd);
    }
  } catch (error) {
    await disk.unlink(path);
    throw error;
  }
  return size;
}

/**
 * Writes to a file of an import that is open.
 *
 * @throws CatalogError `write_refused`, which names the file: the system names none.
 */
export function writeTo(disk: Disk, fd: number, path: string, bytes: Uint8Array): void {
  try {
    disk.write(fd, bytes);
  } catch (cause) {
    const message = `${path} cannot be written: ${messageOf(cause)}`;
    throw new CatalogError('write_refused', message, { cause });
  }
}

/**
 * Passes on the bytes of a file, up to a limit.
 *
 * @param most bytes. @param setting names the setting of the limit, for the message.
 * @throws CatalogError `body_too_large` as soon as there are more.
 */
export function limitedFile(
  file: AsyncIterable<Uint8Array>,
  most: number,
  setting: string,
): AsyncIterable<Uint8Array> {
  const message = `the file is larger than ${most} bytes (${setting})`;
  return bounded(file, most, () => new CatalogError('body_too_large', message));
}

/**
 * The bytes of a file from an offset on, in small pieces, one for each turn of the event loop.
 *
 * @throws Error if there is no file. An empty one in its place would make an import that is `done`.
 */
export async function* readInTurns(disk: Disk, path: string, from = 0): AsyncGenerator<Uint8Array> {
  const pieces = disk.pieces(path);
  if (pieces === null) throw new Error('another program has removed the file');
  let skip = from;
  for (const bytes of pieces) {
    for (const piece of piecesOf(bytes.subarray(skip), PIECE_BYTES)) {
      yield piece;
      await nextTurn();
    }
    skip = Math.max(0, skip - bytes.length);
  }
}
