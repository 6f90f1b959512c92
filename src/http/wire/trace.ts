/** What the log and the metrics tell of a request, gathered while it is carried out. */
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** Ids of others as they are taken: what other systems make, and nothing that a log could mistake. */
const FOREIGN_ID = /^[\w.:-]{1,128}$/;

export const REQUEST_ID = 'x-request-id';

export class Trace {
  /** The path without base path and version, where it leads somewhere. */
  found: string | null = null;
  /** Whom the token is for. */
  subject: string | null = null;
  #id: string | null;

  /** @param id one that is given already. */
  constructor(id: string | null = null) {
    this.#id = id;
  }

  /** Made when it is first asked for: most requests are told to nobody. */
  get id(): string {
    return (this.#id ??= randomUUID());
  }

  /** The shape of the path, such as `/books/{id}/`: there are as many as there are routes. */
  get route(): string | null {
    return this.found === null ? null : this.found.replace(/\d+/g, '{id}');
  }
}

/** The id that a trusted proxy gave the request; null where there is none to be taken. */
export function givenId(headers: IncomingHttpHeaders): string | null {
  const id = headers[REQUEST_ID];
  return typeof id === 'string' && FOREIGN_ID.test(id) ? id : null;
}
