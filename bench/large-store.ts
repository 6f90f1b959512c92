/**
 * Opens a base document of a size that no string can hold, and prints what that took:
 *
 *     bun bench/large-store.ts [MiB]     5120 by default; the file is in the temporary directory
 */
import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { machineDisk } from '../src/disk/disk.ts';
import type { Row } from '../src/model/kind.ts';
import { perKind } from '../src/model/per-kind.ts';
import { CHUNK_SIZE } from '../src/store/memory/chunk-rows.ts';
import { createStore } from '../src/store/files/create.ts';
import { recover } from '../src/store/files/recovery.ts';
import { print } from './server.ts';

const MEBIBYTE = 2 ** 20;

const megabytes = (bytes: number) => Math.round(bytes / MEBIBYTE);

/** Books of about 4 KiB each, made as they are written. */
function* chunksOfBooks(bytes: number) {
  const last = Math.floor(bytes / 4096);
  for (let number = 0; number * CHUNK_SIZE <= last; number += 1) {
    const first = Math.max(number * CHUNK_SIZE, 1);
    const end = Math.min((number + 1) * CHUNK_SIZE, last + 1);
    yield { number, size: end - first, rows: { text: null, written: () => books(first, end) } };
  }
}

function* books(first: number, end: number): Generator<Row> {
  const image = 'x'.repeat(4000);
  const rest = { pub_date: '2024-02-29', commentcount: 0, readcount: 0 };
  for (let id = first; id < end; id += 1) yield { id, name: `Book ${id}`, ...rest, image };
}

const bytes = Number(process.argv[2] ?? 5120) * MEBIBYTE;
const directory = await mkdtemp(join(tmpdir(), 'large-store-'));
try {
  const lastIds = perKind(() => Number.MAX_SAFE_INTEGER);
  const rows = perKind(({ name }) => ({
    chunks: () => (name === 'books' ? chunksOfBooks(bytes) : []),
  }));
  const digest = 'a'.repeat(64);
  const writing = performance.now();
  const size = await createStore(machineDisk, directory, {
    sequence: 0,
    digest,
    time: null,
    lastIds,
    rows,
  });
  const written = process.memoryUsage().rss;
  print(
    `wrote ${megabytes(size)} MiB in ${Math.round(performance.now() - writing)} ms, RSS ${megabytes(written)} MiB`,
  );
  const reading = performance.now();
  const recovered = recover(machineDisk, directory);
  print(
    `opened ${recovered?.state.count('books')} rows in ${Math.round(performance.now() - reading)} ms, RSS ${megabytes(process.memoryUsage().rss)} MiB`,
  );
} finally {
  rmSync(directory, { recursive: true });
}
