/** The parameters of a query, by name (spec 4.6). */
import { CatalogError } from '../../errors.ts';
import { unknownName } from './nearest.ts';

/** The parameters that an operation accepts. */
export interface KnownParameters {
  /** Whose they are, in the plural, for messages: "SKUs". */
  readonly owner: string;
  readonly names: ReadonlySet<string>;
}

/** Decoded values by name, in the order sent. Each name is known and occurs once. */
export type Parameters = ReadonlyMap<string, string>;

/**
 * Parameters whose names begin with `_` or `utm_` are ignored: proxies and campaigns add them.
 *
 * @param search what follows `?`, as sent (application/x-www-form-urlencoded).
 * @throws CatalogError `malformed_query`: an unknown name, a name that occurs twice, or a value
 *   that is not percent-encoded UTF-8.
 */
export function parseParameters(known: KnownParameters, search: string): Parameters {
  const sent = new Map<string, string>();
  if (search === '') return sent;
  for (const pair of search.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const encoded = equals === -1 ? pair : pair.slice(0, equals);
    const name = decode(encoded) ?? encoded;
    if (!known.names.has(name)) {
      if (name.startsWith('_') || name.startsWith('utm_')) continue;
      throw unknownParameter(known, name);
    }
    const value = decode(equals === -1 ? '' : pair.slice(equals + 1));
    if (value === null) throw malformed(name, 'is not percent-encoded UTF-8');
    if (sent.has(name)) throw malformed(name, 'is given twice');
    sent.set(name, value);
  }
  return sent;
}

/** A parameter with a wrong value. */
export function malformed(parameter: string, what: string): CatalogError {
  return new CatalogError('malformed_query', `query parameter ${parameter} ${what}`);
}

/** @throws CatalogError `malformed_query` unless the value is true or false. */
export function parseFlag(parameter: string, value: string): boolean {
  if (value === 'true' || value === 'false') return value === 'true';
  throw malformed(parameter, 'must be true or false');
}

function unknownParameter({ owner, names }: KnownParameters, name: string): CatalogError {
  const { quoted, hint } = unknownName(name, names);
  const message = `${owner} have no query parameter ${JSON.stringify(quoted)}${hint}`;
  return new CatalogError('malformed_query', message);
}

/** Unlike URLSearchParams, this does not replace malformed UTF-8: it returns null. */
function decode(text: string): string | null {
  if (!text.includes('%')) return text.includes('+') ? text.replaceAll('+', ' ') : text;
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return null;
  }
}
