/** Parses a body as JSON, strictly: nothing is repaired or guessed (spec 3.3). */
import { CatalogError, messageOf } from '../../errors.ts';
import { header, type HttpRequest } from '../message.ts';
import type { JsonLimits } from '../../json/json-limits.ts';
import { hasFraction } from '../../json/json-numbers.ts';
import { type KeptNames, parseInSlices } from '../../json/json-parser.ts';
import { FairQueue } from '../../fair-queue.ts';
import type { PatchMode } from '../../resources/input.ts';
import { requireWithinLimits } from './json-limits.ts';
import { JSON_TYPE } from './negotiation.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Larger bodies are parsed in slices. A native parse of this many bytes usually takes 1 ms. */
const LARGE_BYTES = 64 * 1024;

/**
 * UTF-16 units of the texts that are parsed natively. A native parse of 64 KiB can take a second if
 * a client has chosen its strings for the hash function of the engine (src/json/json-parser.ts).
 */
const NATIVE_UNITS = {
  /** From any client: most books are shorter. */
  any: 256,
  /** From a user, of an item or several: most SKUs are shorter, and most descriptions longer. */
  bulky: 4096,
};

export interface ExpectedJson {
  /** The media types that a refusal names. */
  readonly types: readonly string[];
  /** The members that are kept in a body that is not parsed natively. */
  readonly kept: KeptNames;
  /** Whether users may send long bodies often, so that more of them are parsed natively. */
  readonly isBulky: boolean;
  /** Whether an empty body counts as an empty object; otherwise it is malformed. */
  readonly isOptional?: boolean;
}

/**
 * @throws CatalogError `unsupported_media_type`, `body_too_large`, `busy`, `malformed_body`, `invalid`.
 */
export async function readJson(
  request: HttpRequest,
  limits: JsonLimits,
  { types, kept, isBulky, isOptional = false }: ExpectedJson,
): Promise<unknown> {
  const { subject } = request.trace;
  requireJson(request, types);
  requirePlain(header(request, 'content-encoding'));
  const bytes = await request.body.bytes(subject);
  if (bytes.length === 0 && isOptional) return {};
  if (bytes.length > LARGE_BYTES) {
    return queue.run(subject, () => parseLarge(bytes, limits, kept));
  }
  const text = decode(bytes);
  await requireWithinLimits(limits, text);
  const most = isBulky && subject !== null ? NATIVE_UNITS.bulky : NATIVE_UNITS.any;
  if (text.length > most) return parse(text, kept);
  const value = parseJson(text);
  return hasFraction(text) ? parse(text, kept) : value;
}

/** The media type that a body is declared as, without parameters, in lower case; JSON if it has none. */
export function mediaTypeOf(contentType: string | undefined): string {
  const type = contentType?.split(';')[0]?.trim().toLowerCase() ?? '';
  return type === '' ? JSON_TYPE : type;
}

/** A change in which arrays replace those of the object (RFC 7396). */
export const MERGE_PATCH_TYPE = 'application/merge-patch+json';

/** What the media type of a body says about the arrays of a change. */
export function patchModeOf(request: HttpRequest): PatchMode {
  return mediaTypeOf(header(request, 'content-type')) === MERGE_PATCH_TYPE ? 'merge' : 'partial';
}

/** Accepts `application/json`, any `+json`, or no type at all. */
function requireJson(request: HttpRequest, types: readonly string[]): void {
  const type = mediaTypeOf(header(request, 'content-type'));
  if (type === JSON_TYPE || /^[^\s/]+\/[^\s/]+\+json$/.test(type)) return;
  throw unsupportedType(request, types, 'the body must be JSON: Content-Type: application/json');
}

/**
 * The refusal of a body because of its media type (RFC 9110, section 15.5.16).
 *
 * @param types those that the operation accepts.
 */
export function unsupportedType(
  { method }: HttpRequest,
  types: readonly string[],
  message: string,
): CatalogError {
  const headers = { Accept: types.join(', '), ...(method === 'PATCH' && acceptPatch(types)) };
  return new CatalogError('unsupported_media_type', message, { headers });
}

/** The header that names the media types of PATCH (RFC 5789, section 3.1). */
export function acceptPatch(types: readonly string[]): { readonly 'Accept-Patch': string } {
  return { 'Accept-Patch': types.join(', ') };
}

/** RFC 9110, sections 8.4.1 and 15.5.16: nothing is decompressed, because a small body could become a large one. */
export function requirePlain(contentEncoding: string | undefined): void {
  const coding = contentEncoding?.toLowerCase() ?? '';
  if (coding === '' || coding === 'identity') return;
  throw new CatalogError('unsupported_media_type', 'the body must not be compressed', {
    headers: { 'Accept-Encoding': 'identity' },
  });
}

/** @throws CatalogError `malformed_body`. */
function decode(bytes: Uint8Array): string {
  if (bytes.length === 0) {
    throw new CatalogError('malformed_body', 'the body is empty; send JSON');
  }
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw new CatalogError('malformed_body', 'the body is not UTF-8');
  }
  if (!text.startsWith('\ufeff')) return text;
  throw new CatalogError(
    'malformed_body',
    'the body is not JSON: it begins with a byte order mark',
  );
}

/**
 * Large bodies are parsed one after the other: values take many times the memory of their text. The
 * subjects of tokens take turns. All requests without a token share one.
 */
const queue = new FairQueue<string | null>();

/** @throws CatalogError `malformed_body`, `body_too_large`, `invalid`. */
async function parseLarge(
  bytes: Uint8Array,
  limits: JsonLimits,
  kept: KeptNames,
): Promise<unknown> {
  const text = decode(bytes);
  await requireWithinLimits(limits, text);
  return parse(text, kept);
}

/** @throws CatalogError `malformed_body`. */
async function parse(text: string, kept: KeptNames): Promise<unknown> {
  try {
    return await parseInSlices(text, kept);
  } catch (error) {
    throw malformed(messageOf(error));
  }
}

/** @throws CatalogError `malformed_body`. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const [message = ''] = messageOf(error)
      .replace(/^JSON Parse error: /, '')
      .split('\n');
    // It may quote half of a character.
    throw malformed(message.slice(0, 100).toWellFormed());
  }
}

function malformed(message: string): CatalogError {
  return new CatalogError('malformed_body', `the body is not JSON: ${message}`);
}
