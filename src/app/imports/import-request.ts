/**
 * How a command requests an import from a running server (spec 8.14): with files in the folder of
 * imports.
 *
 * A request is a line of JSON, the order, and the file after it. Its name gives its state:
 *
 *   <token>.part     the command writes it
 *   <token>.request  it is complete; the command withdraws it by renaming it back
 *   <token>.taken    the server imports it; it is never imported a second time
 *   <token>.reply    the server's reply, as JSON
 */
import { join } from 'node:path';
import * as v from 'valibot';
import { CODES, type Code } from '../../errors.ts';
import { FIRST_FAULT } from '../../json/first-fault.ts';
import { TRANSFERABLE } from '../../model/kinds.ts';
import { FORMATS } from '../../resources/transfer/formats.ts';
import { CREATABLE } from '../../resources/transfer/rows/named-rows.ts';
import { MATCHES } from '../../resources/transfer/rows/matching.ts';

const order = v.object({
  collection: v.picklist(TRANSFERABLE.map(({ name }) => name)),
  format: v.picklist(FORMATS),
  match: v.picklist(MATCHES),
  createMissing: v.array(v.picklist(CREATABLE)),
  /** Under whose name the rows are written. */
  subject: v.string(),
  /** The currency of the prices, ISO 4217; null for the server's. */
  currency: v.nullable(v.string()),
});

/** What a command asks for. */
export type RequestedImport = v.InferOutput<typeof order>;

const reply = v.union([
  v.object({
    /** The id of the import. */
    id: v.number(),
    /** Bytes that were read, of `total`: the file is read once or twice. */
    done: v.number(),
    total: v.number(),
    /** Whether it has ended; this is then the last reply. */
    ended: v.boolean(),
  }),
  v.object({
    error: v.object({
      code: v.custom<Code>((code) => typeof code === 'string' && Object.hasOwn(CODES, code)),
      message: v.string(),
    }),
  }),
]);

/** The server's reply to a request. */
export type ImportReply = v.InferOutput<typeof reply>;

export const REQUEST = /^([0-9a-f-]{36})\.request$/;

/** Files that a server removes when it starts. */
export const OUTDATED = /^[0-9a-f-]{36}\.(?:taken|reply)$/;

/** A request that is being written, or was left by a command that has ended. */
export const PART = /^[0-9a-f-]{36}\.part$/;

/**
 * @param folder of imports, in the data directory.
 * @param token a UUID that the command has chosen for this request.
 * @param name the stage of the request.
 */
export function requestPath(
  folder: string,
  token: string,
  name: 'part' | 'request' | 'taken' | 'reply',
): string {
  return join(folder, `${token}.${name}`);
}

/** Encodes the line before the file. */
export function encodeOrder(requested: RequestedImport): Buffer {
  return Buffer.from(`${JSON.stringify(requested)}\n`);
}

/** @returns the order, and at which byte the file begins. @throws Error if it is malformed. */
export function decodeOrder(begin: Uint8Array): {
  readonly requested: RequestedImport;
  readonly length: number;
} {
  const length = begin.indexOf(0x0a) + 1;
  const line = Buffer.from(begin.subarray(0, length)).toString();
  return { requested: v.parse(order, JSON.parse(line), FIRST_FAULT), length };
}

/** @returns null if it is malformed. */
export function decodeReply(bytes: Uint8Array): ImportReply | null {
  try {
    return v.parse(reply, JSON.parse(Buffer.from(bytes).toString()), FIRST_FAULT);
  } catch {
    return null;
  }
}
