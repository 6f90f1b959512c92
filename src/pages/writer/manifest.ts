/**
 * A record of each page's file: digests of its inputs and of its content, and its stat.
 *
 * Invariants:
 * 1. A record says: a file with this stat has this content, and these inputs give this content.
 *    Both stay true, whatever is written later: a record can become useless, but never wrong.
 *    So a page needs no work if its inputs are those of its record, and its file has the stat of
 *    the record. If the stat differs, the content is read and compared.
 * 2. The stat (size, inode, time of change) proves the content only while the kernel that wrote it
 *    runs: pages are not synced, so power loss may leave a file with the right stat and without
 *    its bytes. The manifest names the boot of the machine; after another boot no stat counts,
 *    and every file is read.
 * 3. The mark names a state of the store, the settings and the program. It says that every page of
 *    that state has a record with its inputs, and that no other page has a record. A start that
 *    finds its own state in the mark only needs a stat of each page.
 * 4. The file ends in a digest of all its bytes. A damaged manifest counts as a missing one: every
 *    page is rendered and compared.
 *
 * A record takes 56 bytes: a million of them must fit in memory.
 */
import { createHash, hash } from 'node:crypto';
import type { FileStat } from '../../disk/disk.ts';
import {
  frontPage,
  type ListFolder,
  listPage,
  type Page,
  type PageName,
  parseName,
  type ShownKind,
  SITEMAP,
  sitemapPage,
  skuPage,
  STYLE,
} from '../shop/names.ts';
import { DIGEST_LENGTH } from './digest.ts';

export interface PageRecord {
  /** Digest of everything that the page was made from. */
  readonly inputs: Buffer;
  /** Digest of the file. */
  readonly content: Buffer;
  readonly stat: FileStat;
}

/** Ids whose records are in one group. */
const GROUP_SIZE = 1024;

const RECORD_LENGTH = 2 * DIGEST_LENGTH + 24;
const SIZE_AT = 2 * DIGEST_LENGTH;
const INODE_AT = SIZE_AT + 8;
const CHANGED_AT = INODE_AT + 8;

const FORMAT = 1;

/** Bytes of the SHA-256 at the end of the file. */
const FILE_DIGEST_LENGTH = 32;

interface Head {
  readonly format: number;
  readonly boot: string | null;
  readonly mark: string | null;
}

export class Manifest {
  /** Records by group; a record of zeros is an empty place. */
  readonly #groups = new Map<string, Buffer>();
  readonly #boot: string | null;
  /** See invariant 3; null as soon as a record changes. */
  mark: string | null = null;

  /** @param boot names the boot of the machine; null if it cannot be known. */
  constructor(boot: string | null) {
    this.#boot = boot;
  }

  get(name: PageName): PageRecord | null {
    const place = placeOf(name);
    const group = place && this.#groups.get(place.group);
    if (!place || !group || group.length <= place.index * RECORD_LENGTH) return null;
    return decode(group, place.index * RECORD_LENGTH);
  }

  set(name: PageName, { inputs, content, stat }: PageRecord): void {
    const place = placeOf(name);
    if (place === null) return;
    this.mark = null;
    const at = place.index * RECORD_LENGTH;
    const group = this.#groupFor(place.group, at + RECORD_LENGTH);
    inputs.copy(group, at);
    content.copy(group, at + DIGEST_LENGTH);
    group.writeDoubleLE(stat.size, at + SIZE_AT);
    group.writeDoubleLE(stat.inode, at + INODE_AT);
    group.writeDoubleLE(stat.changedMs, at + CHANGED_AT);
  }

  delete(name: PageName): void {
    const place = placeOf(name);
    const group = place && this.#groups.get(place.group);
    if (!place || !group) return;
    this.mark = null;
    const at = place.index * RECORD_LENGTH;
    if (at < group.length) group.fill(0, at, at + RECORD_LENGTH);
  }

  /** Every page that has a record. */
  *names(): Generator<PageName> {
    for (const [group, records] of this.#groups) {
      for (let at = 0; at < records.length; at += RECORD_LENGTH) {
        if (isRecord(records, at)) yield nameAt(group, at / RECORD_LENGTH);
      }
    }
  }

  /** The content of the manifest's file, piece by piece. */
  *encode(): Generator<Buffer> {
    const digest = createHash('sha256');
    const head: Head = { format: FORMAT, boot: this.#boot, mark: this.mark };
    const first = line(head);
    digest.update(first);
    yield first;
    for (const [group, records] of this.#groups) {
      const title = line({ group, length: records.length });
      digest.update(title).update(records);
      yield title;
      yield records;
    }
    yield digest.digest();
  }

  /** @returns the manifest of a file; an empty one if it is damaged or of another format. */
  static decode(bytes: Buffer | null, boot: string | null): Manifest {
    const manifest = new Manifest(boot);
    if (bytes === null || !hasDigest(bytes)) return manifest;
    const end = bytes.length - FILE_DIGEST_LENGTH;
    let at = 0;
    const next = (): unknown => {
      const newline = bytes.indexOf(10, at);
      const text = bytes.toString('utf8', at, newline);
      at = newline + 1;
      return JSON.parse(text);
    };
    const head = next() as Head;
    if (head.format !== FORMAT) return manifest;
    manifest.mark = head.mark;
    const isSameBoot = boot !== null && head.boot === boot;
    while (at < end) {
      const { group, length } = next() as { group: string; length: number };
      // A copy: a slice would keep the whole file in memory.
      const records = Buffer.from(bytes.subarray(at, at + length));
      if (!isSameBoot) forgetStats(records);
      manifest.#groups.set(group, records);
      at += length;
    }
    return manifest;
  }

  #groupFor(name: string, length: number): Buffer {
    const found = this.#groups.get(name);
    if (found !== undefined && found.length >= length) return found;
    const records = Buffer.alloc(Math.max(length, 2 * (found?.length ?? 0)));
    found?.copy(records);
    this.#groups.set(name, records);
    return records;
  }
}

function decode(group: Buffer, at: number): PageRecord | null {
  if (!isRecord(group, at)) return null;
  return {
    inputs: group.subarray(at, at + DIGEST_LENGTH),
    content: group.subarray(at + DIGEST_LENGTH, at + SIZE_AT),
    stat: {
      size: group.readDoubleLE(at + SIZE_AT),
      inode: group.readDoubleLE(at + INODE_AT),
      changedMs: group.readDoubleLE(at + CHANGED_AT),
    },
  };
}

/** A record begins with a digest, and only one digest in 2^64 begins with eight zero bytes. */
function isRecord(group: Buffer, at: number): boolean {
  return group.readInt32LE(at) !== 0 || group.readInt32LE(at + 4) !== 0;
}

/** Sets a time of change that no file has, so that every file is read. */
function forgetStats(records: Buffer): void {
  for (let at = 0; at < records.length; at += RECORD_LENGTH) {
    if (isRecord(records, at)) records.writeDoubleLE(-1, at + CHANGED_AT);
  }
}

function hasDigest(bytes: Buffer): boolean {
  const content = bytes.subarray(0, -FILE_DIGEST_LENGTH);
  if (content.length === 0) return false;
  return hash('sha256', content, 'buffer').equals(bytes.subarray(-FILE_DIGEST_LENGTH));
}

function line(value: object): Buffer {
  return Buffer.from(`${JSON.stringify(value)}\n`);
}

interface Place {
  readonly group: string;
  readonly index: number;
}

/** The first parts of lists are grouped by id; the other parts of a list have their own group. */
function placeOf(name: PageName): Place | null {
  const page = parseName(name);
  return page && placeOfPage(page);
}

function placeOfPage(page: Page): Place {
  switch (page.type) {
    case 'style':
    case 'sitemap':
      return { group: page.type, index: 0 };
    case 'front':
      return { group: 'front', index: page.part };
    case 'sitemap-part':
      return { group: `sitemaps ${page.of}`, index: page.part };
    case 'sku':
      return byId('skus', page.id);
    case 'spu':
      return page.part === 1 ? byId('goods', page.id) : ofList('goods', page);
    case 'category':
      return page.part === 1 ? byId('categories', page.id) : ofList('categories', page);
  }
}

function byId(folder: string, id: number): Place {
  return { group: `${folder} ${Math.floor(id / GROUP_SIZE)}`, index: id % GROUP_SIZE };
}

function ofList(folder: string, { id, part }: { readonly id: number; readonly part: number }) {
  return { group: `parts ${folder} ${id}`, index: part };
}

/** The reverse of {@link placeOf}. */
function nameAt(group: string, index: number): PageName {
  const [type = '', of = '', list = ''] = group.split(' ');
  switch (type) {
    case 'style':
      return STYLE;
    case 'sitemap':
      return SITEMAP;
    case 'front':
      return frontPage(index);
    case 'sitemaps':
      return sitemapPage(of as ShownKind, index);
    case 'parts':
      return listPage(of as ListFolder, Number(list), index);
    case 'skus':
      return skuPage(Number(of) * GROUP_SIZE + index);
    default:
      return listPage(type as ListFolder, Number(of) * GROUP_SIZE + index);
  }
}
