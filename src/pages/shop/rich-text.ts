/**
 * Descriptions as HTML. They may hold simple rich text; whatever is not on the list below is
 * shown as the text that it is.
 */
import sanitizeHtml from 'sanitize-html';

/** The allow-list; docs/pages.md has it for the people who write descriptions. */
const ALLOWED: sanitizeHtml.IOptions = {
  allowedTags: [
    'p br h3 h4 ul ol li blockquote a strong b em i u s sub sup code',
    'table thead tbody tr th td caption',
  ].flatMap((tags) => tags.split(' ')),
  allowedAttributes: { a: ['href', 'rel'], th: ['scope'] },
  allowedSchemes: ['https', 'http', 'mailto', 'tel'],
  allowProtocolRelative: false,
  disallowedTagsMode: 'escape',
  transformTags: { a: sanitizeHtml.simpleTransform('a', { rel: 'nofollow noopener' }) },
  parseStyleAttributes: false,
};

/** A tag or a character reference: without either a text is the same as its HTML, but escaped. */
const MARKED_UP = /<[a-z/!]|&[a-z#]/i;

const BLOCK = /<(?:p|h[34]|ul|ol|blockquote|table)\b/;

/** Texts that are kept with their HTML: the SKUs of an SPU share its descriptions. */
const MAX_CACHED_TEXTS = 256;

const known = new Map<string, string>();

/**
 * @param text plain text, or simple HTML.
 * @returns safe HTML for the content of a block element. Where it has no paragraphs of its own the
 *   blank lines of the text make them.
 */
export function richText(text: string): string {
  const found = known.get(text);
  if (found !== undefined) return found;
  const safe = MARKED_UP.test(text) ? sanitizeHtml(text, ALLOWED) : escapeText(text);
  const html = BLOCK.test(safe) ? safe : paragraphs(safe);
  if (known.size >= MAX_CACHED_TEXTS) known.clear();
  known.set(text, html);
  return html;
}

/** The words alone, on one line, cut at a word to at most `length` UTF-16 units. */
export function plainText(text: string, length: number): string {
  const words = MARKED_UP.test(text)
    ? sanitizeHtml(text.replace(/<(?=[a-z/])/gi, ' <'), { allowedTags: [], textFilter: unescape })
    : text;
  const line = words.replace(/\s+/g, ' ').trim();
  if (line.length <= length) return line;
  return `${line.slice(0, length - 1).replace(/\s*\S*$/, '')}…`;
}

function paragraphs(html: string): string {
  return html
    .split(/\r?\n[ \t]*\r?\n\s*/)
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => `<p>${part.replace(/\r?\n/g, '<br>\n')}</p>`)
    .join('\n');
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Undoes what sanitize-html escapes in text. */
function unescape(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}
