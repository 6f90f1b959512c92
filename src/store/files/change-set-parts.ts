/**
 * Decoding a large change set in steps: that of a bulk write or an import may have tens of
 * megabytes, and is read while requests are served.
 *
 * It is enough to find the elements of the lists, which are in arrays of the third level:
 * `{"put":{"skus":[…]}}`, in the order in which `encodeChangeSet` (change-set.ts) writes them. If a
 * person has sealed a change set with its members in another order, it is decoded at once.
 */
import { createHash } from 'node:crypto';
import { inSlices } from '../../slices.ts';
import type { ChangeSet, ChangeSetContent } from '../change-set.ts';
import { changeSetShape, decodeNext, isId, isRow, requireNext } from './change-set.ts';
import { damaged, parseShape, requireDigest, statedDigest } from './files.ts';
import { CHECKSUM_LENGTH } from '../../json/checksum.ts';

/** Bytes that are hashed, scanned or parsed in one step. */
const STEP_BYTES = 64 * 1024;

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [BRACE, BRACE_END, BRACKET, BRACKET_END] = [0x7b, 0x7d, 0x5b, 0x5d];

/** The members that hold lists, in their order. */
const TABLES = ['put', 'delete', 'before'];

/** The level of the elements of the lists. */
const ELEMENTS = 3;

/** A longer change set is decoded in slices: a millisecond decodes about 100 KiB. */
const MAX_BYTES_AT_ONCE = 256 * 1024;

/**
 * As {@link decodeNext}, but yields to the event loop while it decodes a large change set.
 *
 * @throws CatalogError `store_damaged`.
 */
export async function decodeNextBeside(
  path: string,
  bytes: Buffer,
  sequence: number,
  previous: string | null,
): Promise<ChangeSet> {
  return bytes.length > MAX_BYTES_AT_ONCE
    ? inSlices(decodeNextInParts(path, bytes, sequence, previous))
    : decodeNext(path, bytes, sequence, previous);
}

/**
 * As {@link decodeNext}, in steps.
 *
 * @throws CatalogError `store_damaged`.
 */
export function* decodeNextInParts(
  path: string,
  bytes: Buffer,
  sequence: number,
  previous: string | null,
): Generator<undefined, ChangeSet> {
  const end = Math.max(bytes.length - CHECKSUM_LENGTH, 0);
  const digest = yield* digestOf(bytes.subarray(0, end));
  requireDigest(path, digest, statedDigest(path, bytes.subarray(end)));
  const { frame, lists } = yield* split(bytes.subarray(0, end));
  const framed = parse(path, frame);
  const content = parseShape(path, changeSetShape, framed) as ChangeSetContent;
  const tables = [content.put, content.delete, content.before ?? {}];
  if (!isInOrder(framed, tables, lists.length)) return decodeNext(path, bytes, sequence, previous);
  const found = lists[Symbol.iterator]();
  for (const table of tables) {
    const [what, isElement] = table === content.delete ? ['ids', isId] : ['rows', isRow];
    for (const kind of Object.keys(table)) {
      const elements: unknown[] = [];
      for (const text of found.next().value ?? []) {
        const parsed = parse(path, `[${text}]`) as unknown[];
        if (!parsed.every(isElement)) throw damaged(path, `${kind} has no ${what}`);
        for (const element of parsed) elements.push(element);
        yield;
      }
      (table as Record<string, unknown[]>)[kind] = elements;
    }
  }
  return requireNext(path, { ...content, digest }, sequence, previous);
}

/**
 * Whether the lists of a text are those of its tables, in their order.
 *
 * @param framed the change set with empty lists, its members in the order of the text.
 * @param count of all lists in the text.
 */
function isInOrder(framed: unknown, tables: readonly object[], count: number): boolean {
  const members = Object.keys(framed as object).filter((name) => TABLES.includes(name));
  const known = tables.reduce((sum, table) => sum + Object.keys(table).length, 0);
  return members.every((name, nth) => name === TABLES[nth]) && known === count;
}

function* digestOf(bytes: Uint8Array): Generator<undefined, string> {
  const hash = createHash('sha256');
  for (let at = 0; at < bytes.length; at += STEP_BYTES) {
    hash.update(bytes.subarray(at, at + STEP_BYTES));
    yield;
  }
  return hash.digest('hex');
}

/** A change set as text, taken apart. */
interface Parts {
  /** JSON of the change set with empty lists. */
  readonly frame: string;
  /** The texts of each list, in order: some elements each, separated by commas. */
  readonly lists: readonly (readonly string[])[];
}

function* split(bytes: Buffer): Generator<undefined, Parts> {
  const lists: string[][] = [];
  let [frame, level, begun, isText] = ['', 0, 0, false];
  for (let at = 0; at < bytes.length; at += 1) {
    if (at % STEP_BYTES === 0) yield;
    const byte = bytes[at];
    if (isText) {
      if (byte === BACKSLASH) at += 1;
      else if (byte === QUOTE) isText = false;
    } else if (byte === QUOTE) {
      isText = true;
    } else if (byte === BRACE || byte === BRACKET) {
      level += 1;
      if (level !== ELEMENTS) continue;
      frame += bytes.toString('utf8', begun, at + 1);
      begun = at + 1;
      lists.push([]);
    } else if (byte === BRACE_END || byte === BRACKET_END) {
      level -= 1;
      if (level !== ELEMENTS - 1) continue;
      if (at > begun) lists.at(-1)?.push(bytes.toString('utf8', begun, at));
      begun = at;
    } else if (byte === COMMA && level === ELEMENTS && at - begun >= STEP_BYTES) {
      lists.at(-1)?.push(bytes.toString('utf8', begun, at));
      begun = at + 1;
    }
  }
  return { frame: `${frame}${bytes.toString('utf8', begun)}}`, lists };
}

function parse(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw damaged(path, String(error));
  }
}
