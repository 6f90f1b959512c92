/** Tells the markup of a description from its text; the pages and the console use the same rule. */

/** The elements of descriptions; docs/pages.md has them for the people who write descriptions. */
export const DESCRIPTION_TAGS: readonly string[] = [
  'p br h3 h4 ul ol li blockquote a strong b em i u s sub sup code',
  'table thead tbody tr th td caption',
].flatMap((tags) => tags.split(' '));

const TAGS = new Set(DESCRIPTION_TAGS);

/**
 * A `<`, with all of what looks like a tag. It contains no second `<`, so that a search reads
 * every character twice at most.
 */
const TAG = /<(?:\/?[a-z](?:[^<>"']|"[^"<]*"|'[^'<]*')*>)?/gi;

const NAME = /^<\/?([a-z][a-z\d]*)/i;

/** An attribute; without a value, one that HTML knows. In `a<b and c>d` no tag begins. */
const ATTRIBUTE =
  /[\t\n\f\r ]+(?:[a-z][\w:.-]*[\t\n\f\r ]*=[\t\n\f\r ]*(?:"[^"]*"|'[^']*'|[^\t\n\f\r "'=`>]+)|(?:compact|hidden|nowrap|reversed)\b)/iy;

const END = /[\t\n\f\r ]*\/?>$/y;

/** An `&`, with all of a character reference. */
const REFERENCE = /&(?:(?:[a-z][a-z\d]*|#\d+|#x[\da-f]+);)?/gi;

/**
 * The end of a line in a description without block elements. A `br` there stands for the same end:
 * most programs that write `br` put a line break after it.
 */
export const LINE_END = /(?:<br ?\/?>)?\r?\n/gi;

/**
 * @param text a description of any length.
 * @returns the same as HTML in which every `<` begins a complete tag of {@link DESCRIPTION_TAGS},
 *   and every `&` a complete character reference. It is not safe yet: tags may have any attributes
 *   and need not match.
 */
export function markupOf(text: string): string {
  return text
    .replace(REFERENCE, (found) => (found === '&' ? '&amp;' : found))
    .replace(TAG, (found) => (isTag(found) ? found : `&lt;${found.slice(1)}`));
}

function isTag(found: string): boolean {
  const [begin = '', name = ''] = NAME.exec(found) ?? [];
  if (!TAGS.has(name.toLowerCase())) return false;
  let at = begin.length;
  // An end tag has no attributes.
  while (!begin.startsWith('</')) {
    ATTRIBUTE.lastIndex = at;
    if (!ATTRIBUTE.test(found)) break;
    at = ATTRIBUTE.lastIndex;
  }
  END.lastIndex = at;
  return END.test(found);
}
