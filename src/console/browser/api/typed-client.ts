/** The client whose paths, bodies and responses have the types of the API's description. */
import createClient from 'openapi-fetch';
import type { paths } from '../../../../dist/console/api.d.ts';
import { BASE_PATH } from '../base.ts';
import { answer } from './answer.ts';
import { ApiError } from './client.ts';
import { authorizedFetch } from './session.ts';

export const client = createClient<paths>({
  baseUrl: `${location.origin}${BASE_PATH}`,
  // The body is read here, because a request can be sent once only.
  fetch: async ({ url, method, headers, signal, body }: Request) =>
    authorizedFetch(url, {
      method,
      headers,
      signal,
      ...(body !== null && { body: await new Response(body).text() }),
    }),
});

/** What the typed client returns. */
interface Result<T> {
  readonly data?: T;
  readonly error?: unknown;
  readonly response: Response;
}

/**
 * The object of a typed response.
 *
 * @throws ApiError if it is not a success, TypeError if there is none.
 */
export async function unwrap<T>(pending: Promise<Result<T>>): Promise<T> {
  const { data, error, response } = await answer(pending);
  if (response.ok) return data as T;
  const { error: message, fields } = (error ?? {}) as {
    error?: string;
    fields?: ApiError['fields'];
  };
  throw new ApiError(response.status, message ?? '', fields);
}
