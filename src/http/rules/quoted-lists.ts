/** Lists in headers whose elements may be quoted strings (RFC 9110, sections 5.6.1 and 5.6.4). */

/**
 * Splits a header at a separator, except inside quoted strings. A backslash in a quoted string
 * takes away the meaning of the character after it.
 *
 * @returns the parts, at least one, as they are in the text.
 */
export function splitOutsideQuotes(text: string, separator: ',' | ';' | '='): string[] {
  const parts: string[] = [];
  let begin = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text[at];
    if (unit === '"') isQuoted = !isQuoted;
    else if (unit === '\\' && isQuoted) at += 1;
    if (unit !== separator || isQuoted) continue;
    parts.push(text.slice(begin, at));
    begin = at + 1;
  }
  parts.push(text.slice(begin));
  return parts;
}
