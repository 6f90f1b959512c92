/** Lets a client of this host read what it has written through it at another one (spec 15.11). */
import { withTimeout } from '../../delay.ts';
import { type HttpRequest, type HttpResponse, isRead } from '../../http/message.ts';
import { CATALOG_SEQUENCE, parseSequence } from '../../http/rules/catalog-sequence.ts';

/** Milliseconds that a response waits. A client that has to be sure sends Catalog-Min-Sequence. */
const CATCH_UP_MS = 1000;

/** Paths of requests that change accounts and tokens, which change sets do not contain. */
const ACCOUNTS = /^\/admin\/(?:users|tokens)\//;

/** Paths whose reads tell a client that what it had asked for is written by now. */
const REPORTS = /^\/admin\/imports\//;

/** How this host catches up with the one that carried the write out. */
export interface CatchingUp {
  /** Resolves when this host shows a change set. */
  readonly reach: (sequence: number) => Promise<void> | undefined;
  /** Updates the accounts and keys of this host. */
  readonly pullAccounts: () => Promise<void> | undefined;
}

/**
 * Waits until this host shows what a forwarded request has written, or what the import has written
 * whose report it asked for, for at most a second. Never rejects: the write is done, whether or not
 * this host can show it yet.
 *
 * @param stopped ends the wait.
 */
export async function awaitOwnWrite(
  { method, trace }: HttpRequest,
  { status, headers }: HttpResponse,
  { reach, pullAccounts }: CatchingUp,
  stopped: AbortSignal,
): Promise<void> {
  const path = trace.found ?? '';
  if (status >= 400 || (isRead(method) && !REPORTS.test(path))) return;
  const sequence = parseSequence(headers[CATALOG_SEQUENCE] ?? '') ?? 0;
  const works = [Promise.resolve(reach(sequence))];
  if (ACCOUNTS.test(path)) works.push(Promise.resolve(pullAccounts()));
  await withTimeout(Promise.allSettled(works), CATCH_UP_MS, () => {}, stopped);
}
