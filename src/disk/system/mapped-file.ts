/**
 * A file that is mapped into memory first, and copied later. Copying takes most of the time of
 * reading a file, because the kernel has to provide the memory; a server can do it after its first
 * responses.
 *
 * Invariants:
 * 1. Nothing that is written to the memory changes the file.
 * 2. When `copy` has ended, nothing that happens to the file changes the memory. If it was written to
 *    since it was mapped, `copy` throws. Until then, a program that shortens the file in place ends
 *    this process (SIGBUS). A rename of another file to the path does no harm.
 */
import fs from 'node:fs';
import { piecesOf } from '../../streams.ts';
import { type MappedMemory, mapMemory } from './mapped-memory.ts';
import { openRegular } from './regular-file.ts';

/** Bytes of the file that share one piece of memory, which is freed as a whole. */
const BLOCK_BYTES = 16 * 1024 * 1024;

/** Bytes of a piece, which are copied at once: well under a millisecond. */
const PIECE_BYTES = 1024 * 1024;

/** A smaller file is read as fast. */
const SMALLEST_BYTES = PIECE_BYTES;

/** Each copied piece is a mapping of its own, of which a process may have 65,530. */
const LARGEST_BYTES = 16 * 1024 * PIECE_BYTES;

/** Two equal ones mean that the file was not written between them. */
interface Version {
  readonly bytes: bigint;
  /** When it was last written (mtime), in nanoseconds since the epoch. */
  readonly written: bigint;
}

export class MappedFile {
  /** All bytes of the file, in order. */
  readonly pieces: readonly Buffer[];
  readonly #path: string;
  readonly #fd: number;
  readonly #version: Version;
  #blocks: readonly MappedMemory[];
  #closed = false;
  #copied = false;

  private constructor(path: string, fd: number, version: Version, blocks: readonly MappedMemory[]) {
    this.#path = path;
    this.#fd = fd;
    this.#version = version;
    this.#blocks = blocks;
    this.pieces = blocks.flatMap(({ bytes }) => [...piecesOf(bytes, PIECE_BYTES)]);
  }

  /**
   * @returns null if there is no such file, if it is small or huge, or if it cannot be mapped: then
   *   it can only be read.
   */
  static open(path: string): MappedFile | null {
    let fd: number;
    try {
      fd = openRegular(path);
    } catch {
      // To read the file gives the error.
      return null;
    }
    const version = versionOf(fd);
    const bytes = Number(version.bytes);
    const isMapped = bytes >= SMALLEST_BYTES && bytes <= LARGEST_BYTES;
    const blocks = isMapped ? blocksOf(fd, bytes) : null;
    if (blocks !== null) return new MappedFile(path, fd, version, blocks);
    fs.closeSync(fd);
    return null;
  }

  /** Whether the memory no longer depends on the file. */
  get isCopied(): boolean {
    return this.#copied;
  }

  /**
   * Copies the file, and closes it; ends early if it was closed meanwhile.
   *
   * @throws Error if the file was written to since it was mapped, or there is no memory.
   */
  *copy(): Generator<void, void> {
    for (const block of this.#blocks) {
      for (let start = 0; start < block.bytes.length; start += PIECE_BYTES) {
        if (this.#closed) return;
        if (!block.copy(start, PIECE_BYTES)) {
          throw new Error(`${this.#path} could not be copied into memory`);
        }
        yield;
      }
    }
    if (this.#closed) return;
    const { bytes, written } = versionOf(this.#fd);
    if (bytes !== this.#version.bytes || written !== this.#version.written) {
      throw new Error(
        `${this.#path} was written to while the program started, so what was read of it may be wrong`,
      );
    }
    this.#copied = true;
    this.close();
  }

  /** Gives up the copy, if it is not complete. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#blocks = [];
    fs.closeSync(this.#fd);
  }
}

function versionOf(fd: number): Version {
  const { size, mtimeNs } = fs.fstatSync(fd, { bigint: true });
  return { bytes: size, written: mtimeNs };
}

/** @returns null if a part of the file cannot be mapped. */
function blocksOf(fd: number, bytes: number): MappedMemory[] | null {
  const blocks: MappedMemory[] = [];
  for (let start = 0; start < bytes; start += BLOCK_BYTES) {
    const block = mapMemory(fd, start, Math.min(BLOCK_BYTES, bytes - start));
    if (block === null) return null;
    blocks.push(block);
  }
  return blocks;
}
