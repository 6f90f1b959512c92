/** Limits the nesting of a JSON body and the length of its arrays (spec 3.3). */
import { CatalogError } from '../../errors.ts';
import { type Excess, findExcessInSlices, type JsonLimits } from '../../json/json-limits.ts';

/**
 * Checks the limits before anything is parsed.
 *
 * @param text of the body. Text that is not JSON may pass.
 * @throws CatalogError `body_too_large`, `invalid`; `malformed_body` if the text is too deep and also
 *   ends early.
 */
export async function requireWithinLimits(limits: JsonLimits, text: string): Promise<void> {
  const excess = await findExcessInSlices(limits, text);
  if (excess !== null) throw failureOf(excess, limits);
}

function failureOf(excess: Excess, { depth, elements }: JsonLimits): CatalogError {
  if (excess === 'cut off') {
    return new CatalogError('malformed_body', 'the body is not JSON: it is cut off');
  }
  if (excess === 'depth') {
    const message = `the body is nested more than ${depth} levels deep`;
    return new CatalogError('invalid', message, { fields: {} });
  }
  const message = `an array of the body has more than ${elements} elements`;
  return new CatalogError('body_too_large', message);
}
