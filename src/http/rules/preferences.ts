/** `Prefer: handling=strict` (RFC 7240): unknown members of a body are an error (spec 2.11). */
import { hasCode } from '../../errors.ts';
import { Problems } from '../../resources/input.ts';
import { type Members, reportUnknown } from '../../resources/members.ts';
import { inSlices } from '../../slices.ts';
import { splitOutsideQuotes } from './quoted-lists.ts';
import { header, type HttpRequest, type HttpResponse } from '../message.ts';

const APPLIED = { name: 'Preference-Applied', value: 'handling=strict' };

/** Whether unknown members are errors. If the preference is repeated, the first one counts. */
export function prefersStrict(request: HttpRequest): boolean {
  const text = header(request, 'prefer');
  if (text === undefined) return false;
  for (const each of splitOutsideQuotes(text, ',')) {
    // Parameters follow a semicolon; they are ignored.
    const [preference = ''] = splitOutsideQuotes(each, ';');
    const [name = '', value = ''] = splitOutsideQuotes(preference, '=');
    if (name.trim().toLowerCase() !== 'handling') continue;
    return value.trim().replace(/^"|"$/g, '').toLowerCase() === 'strict';
  }
  return false;
}

/**
 * @param validate throws all other problems as CatalogError `invalid`; it is called only if there
 *   are unknown members.
 * @throws CatalogError `invalid`, with every problem.
 */
export async function requireKnown(
  members: Members,
  body: unknown,
  validate: (body: unknown) => unknown,
): Promise<void> {
  const problems = new Problems();
  await inSlices(reportUnknown(members, body, '', problems));
  if (problems.empty) return;
  try {
    await validate(body);
  } catch (error) {
    const fields = (hasCode(error, 'invalid') && error.fields) || {};
    // An error without fields is about the body as a whole, so its members do not matter.
    if (Object.keys(fields).length === 0) throw error;
    problems.addAll(fields);
  }
  problems.settle({ [APPLIED.name]: APPLIED.value });
}

/** Confirms in a response that the body was checked for unknown members. */
export function withStrictness(response: HttpResponse): HttpResponse {
  response.headers[APPLIED.name] = APPLIED.value;
  return response;
}
