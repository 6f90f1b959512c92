/**
 * The change sets of a directory as a reader finds them, while its owner may add and remove some.
 *
 * Invariant: a reader that has read up to {@link NextChangeSet} `end` has read every change set
 * that was answered before its first read.
 */
import { join } from 'node:path';
import type { Disk } from '../../disk/disk.ts';
import { readFile } from '../../disk/read-file.ts';
import { changeSetName, type Listing, listChanges } from './files.ts';

/** The most bytes of change sets that a reader takes before it reads the base. */
const MAX_TAKEN_BYTES = 64 * 1024 * 1024;

/** A change set's bytes; or the sequence of the next one that is there, after a gap. */
export type NextChangeSet = Buffer | 'end' | number;

export class ChangeFiles {
  readonly #disk: Disk;
  readonly #directory: string;
  readonly #taken = new Map<number, Buffer>();
  /** What was there when change sets were taken; later ones are not looked for. */
  #listing: Listing | null = null;

  constructor(disk: Disk, directory: string) {
    this.#disk = disk;
    this.#directory = directory;
  }

  /** @throws CatalogError `store_unreadable`. */
  list(): Listing {
    return this.#listing ?? listChanges(this.#disk, this.#directory);
  }

  /**
   * Reads the newest change sets into memory, so that a checkpoint can no longer remove them. Those
   * that are written from now on are ignored.
   *
   * @throws CatalogError `store_unreadable`.
   */
  take(): void {
    this.#listing = listChanges(this.#disk, this.#directory);
    let bytes = 0;
    for (const sequence of this.#listing.sequences.toReversed()) {
      const file = readFile(this.#disk, this.#path(sequence));
      bytes += file?.length ?? 0;
      if (bytes > MAX_TAKEN_BYTES) return;
      if (file !== null) this.#taken.set(sequence, file);
    }
  }

  /**
   * An absent file is the end of the history if there is no later one. If there is, this one was
   * written before it, so that reading it a second time tells a concurrent write from a loss.
   *
   * @throws CatalogError `store_unreadable`.
   */
  next(sequence: number): NextChangeSet {
    const taken = this.#taken.get(sequence);
    // Each is asked for once.
    this.#taken.delete(sequence);
    if (taken !== undefined) return taken;
    if (this.#listing !== null && sequence > (this.#listing.sequences.at(-1) ?? 0)) return 'end';
    const path = this.#path(sequence);
    const bytes = readFile(this.#disk, path);
    if (bytes !== null) return bytes;
    const later = this.list().sequences.find((number) => number > sequence);
    if (later === undefined) return 'end';
    return readFile(this.#disk, path) ?? later;
  }

  #path(sequence: number): string {
    return join(this.#directory, changeSetName(sequence));
  }
}
