/** Which change set a response shows, and which one a read asks for (spec 15.1, 15.2). */
import { CatalogError } from '../../errors.ts';
import { malformed, type Parameters } from '../../resources/query/parameters.ts';
import { header, type HttpRequest, type HttpResponse, isSafe } from '../message.ts';
import type { Services } from '../services.ts';

export const CATALOG_SEQUENCE = 'Catalog-Sequence';

/** The last text made: most responses between two commits have the same sequence. */
const latest = { sequence: 0, text: '0' };

/** @returns the value of `Catalog-Sequence` for a change set, in decimal digits. */
export function sequenceText(sequence: number): string {
  if (latest.sequence !== sequence) {
    latest.sequence = sequence;
    latest.text = String(sequence);
  }
  return latest.text;
}

/**
 * The last change set that a response is certain to show. The state may advance during a read, so
 * that is the one at its beginning. A write is answered in the turn in which it is committed.
 *
 * @param begun the last change set when the request began.
 * @param ended the last change set when it ended.
 */
export function sequenceShown(
  { method, trace }: HttpRequest,
  { status }: HttpResponse,
  begun: number,
  ended: number,
): number {
  if (!isSafe(method) && status < 400) return ended;
  return Math.max(begun, trace.reached ?? 0);
}

/**
 * Waits for the change set that `Catalog-Min-Sequence` names.
 *
 * @returns undefined if there is no need to wait.
 * @throws CatalogError `malformed_request`; rejects with `busy` if it does not arrive in time.
 */
export function awaitSequence(
  request: HttpRequest,
  changes: { readonly awaited: Pick<Services['changes']['awaited'], 'reach'> },
): Promise<void> | undefined {
  const text = header(request, 'catalog-min-sequence');
  if (text === undefined) return undefined;
  const sequence = parseSequence(text);
  if (sequence === null) {
    throw new CatalogError(
      'malformed_request',
      'Catalog-Min-Sequence must be the number of a change set, in digits',
    );
  }
  // It may have arrived since the request began, while the token was verified.
  const reached = () => {
    request.trace.reached = sequence;
  };
  const awaited = changes.awaited.reach(sequence, request.trace.subject);
  if (awaited === undefined) reached();
  return awaited?.then(reached);
}

/**
 * The change set after which a reader of changes begins; null if the query does not name one.
 *
 * @throws CatalogError `malformed_query`.
 */
export function parseSince(sent: Parameters): number | null {
  const value = sent.get('since');
  if (value === undefined) return null;
  const since = parseSequence(value);
  if (since === null) throw malformed('since', 'must be the number of a change set, in digits');
  return since;
}

/**
 * The number of a change set as clients send it; null if it is malformed. A number that is too
 * large for any change set becomes the largest safe integer.
 */
export function parseSequence(text: string): number | null {
  return /^\d+$/.test(text) ? Math.min(Number(text), Number.MAX_SAFE_INTEGER) : null;
}
