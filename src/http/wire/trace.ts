/** What the log and the metrics say about a request, collected while it is carried out. */
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** Ids of other systems: what they usually generate, and nothing that could break a log line. */
const FOREIGN_ID = /^[\w.:-]{1,128}$/;

export const REQUEST_ID = 'x-request-id';

export class Trace {
  /** The path without base path and version; null if it has no route. */
  found: string | null = null;
  /** The change set for which a read has waited. */
  reached: number | null = null;
  /** The subject of the token. */
  subject: string | null = null;
  /** Whether another process logs and counts the request, because it has carried it out. */
  isTold = false;
  #id: string | null;

  /** @param id of the request, if a proxy gave it one. */
  constructor(id: string | null = null) {
    this.#id = id;
  }

  /** Generated at the first use: most requests are not logged. */
  get id(): string {
    return (this.#id ??= randomUUID());
  }

  /** The pattern of the path, such as `/books/{id}/`: there are as many as there are routes. */
  get route(): string | null {
    return this.found === null ? null : this.found.replace(/\d+/g, '{id}');
  }
}

/** The id that a trusted proxy gave the request; null if there is none, or it is malformed. */
export function givenId(headers: IncomingHttpHeaders): string | null {
  const id = headers[REQUEST_ID];
  return typeof id === 'string' && FOREIGN_ID.test(id) ? id : null;
}
