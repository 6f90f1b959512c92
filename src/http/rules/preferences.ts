/** `Prefer: handling=strict` (RFC 7240): unknown members of a body are an error (spec 2.11). */
import { CatalogError } from '../../errors.ts';
import { Problems } from '../../resources/input.ts';
import { type Members, reportUnknown } from '../../resources/members.ts';
import { inSlices } from '../../slices.ts';
import { header, type HttpRequest, type HttpResponse } from '../message.ts';

const APPLIED = { name: 'Preference-Applied', value: 'handling=strict' };

/** Whether unknown members are errors. If the preference is repeated, the first one counts. */
export function prefersStrict(request: HttpRequest): boolean {
  const text = header(request, 'prefer');
  if (text === undefined) return false;
  for (const each of split(text, ',')) {
    // Parameters follow a semicolon; they are ignored.
    const [preference = ''] = split(each, ';');
    const [name = '', value = ''] = split(preference, '=');
    if (name.trim().toLowerCase() !== 'handling') continue;
    return value.trim().replace(/^"|"$/g, '').toLowerCase() === 'strict';
  }
  return false;
}

/** The parts between separators that are not in quotes (RFC 9110, section 5.6). */
function split(text: string, separator: string): string[] {
  const parts: string[] = [];
  let begin = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '"') quoted = !quoted;
    if (text[at] !== separator || quoted) continue;
    parts.push(text.slice(begin, at));
    begin = at + 1;
  }
  parts.push(text.slice(begin));
  return parts;
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
    const isInvalid = error instanceof CatalogError && error.code === 'invalid';
    const fields = (isInvalid ? error.fields : undefined) ?? {};
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
