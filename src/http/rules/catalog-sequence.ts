/** Which change set an answer shows, and which one a read asks for (spec 15.1, 15.2). */
import { CatalogError } from '../../errors.ts';
import { header, type HttpRequest, type HttpResponse } from '../message.ts';
import type { Services } from '../services.ts';

export const CATALOG_SEQUENCE = 'Catalog-Sequence';

/** Most answers between two commits have the same. */
const latest = { sequence: 0, text: '0' };

export function textOf(sequence: number): string {
  if (latest.sequence !== sequence) {
    latest.sequence = sequence;
    latest.text = String(sequence);
  }
  return latest.text;
}

/**
 * The change set that an answer shows at least. The state may move while a read is carried out, so
 * that is the one at its beginning; a write is answered in the turn in which it is committed.
 *
 * @param begun the last change set when the request began. @param ended the same for its end.
 */
export function sequenceShown(
  { method, trace }: HttpRequest,
  { status }: HttpResponse,
  begun: number,
  ended: number,
): number {
  const reads = method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
  if (!reads && status < 400) return ended;
  return Math.max(begun, trace.reached ?? 0);
}

/**
 * Waits for the change set that `Catalog-Min-Sequence` names.
 *
 * @returns undefined if nothing has to be waited for.
 * @throws CatalogError `malformed_request`; `busy`, as a rejection, if it does not come in time.
 */
export function awaitSequence(
  request: HttpRequest,
  changes: Services['changes'],
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
  return changes.reach(sequence)?.then(() => {
    request.trace.reached = sequence;
  });
}

/**
 * The number of a change set as clients send it; null if it is not one. A number that no change set
 * will ever have is beyond all that there are.
 */
export function parseSequence(text: string): number | null {
  return /^\d+$/.test(text) ? Math.min(Number(text), Number.MAX_SAFE_INTEGER) : null;
}
