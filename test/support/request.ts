/** A request as the application gets it, for tests that call a part of it. */
import { type HttpRequest, NO_BODY } from '../../src/http/message.ts';
import { Trace } from '../../src/http/wire/trace.ts';

/** GET of `/` without headers and without a body, but for what is named. */
export function requestWith(parts: Partial<HttpRequest>): HttpRequest {
  return {
    method: 'GET',
    path: '/',
    search: '',
    headers: {},
    address: '127.0.0.1',
    trace: new Trace(),
    body: NO_BODY,
    whenGone: () => () => {},
    ...parts,
  };
}
