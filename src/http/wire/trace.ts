/** What the log and the metrics say about a request, collected while it is carried out. */
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** Request ids of other systems: the usual formats, and nothing that could break a log line. */
const FOREIGN_ID = /^[\w.:-]{1,128}$/;

export const REQUEST_ID = 'x-request-id';

export class Trace {
  /** The path without base path and version; null if no route matches it. */
  found: string | null = null;
  /** The template of that path if its parameters may be any text; null if digits tell them apart. */
  template: string | null = null;
  /** The change set that a read asked for, once the state contains it. */
  reached: number | null = null;
  /** The subject of the token. */
  subject: string | null = null;
  /** Whether another process has carried out the request, and therefore logs and counts it. */
  isLoggedElsewhere = false;
  #id: string | null;

  /** @param id of the request, if a proxy gave it one. */
  constructor(id: string | null = null) {
    this.#id = id;
  }

  /** Generated at the first use, because most requests are not logged. */
  get id(): string {
    return (this.#id ??= randomUUID());
  }

  /**
   * The pattern of the path, such as `/books/{id}/`. There are as many patterns as routes, whatever
   * clients send, because the metrics keep a series for each of them.
   */
  get route(): string | null {
    return this.found === null ? null : (this.template ?? this.found.replace(/\d+/g, '{id}'));
  }
}

/** The id that a trusted proxy gave the request; null if there is none, or it is malformed. */
export function givenId(headers: IncomingHttpHeaders): string | null {
  const id = headers[REQUEST_ID];
  return typeof id === 'string' && FOREIGN_ID.test(id) ? id : null;
}
