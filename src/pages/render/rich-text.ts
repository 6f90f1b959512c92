/**
 * Descriptions as HTML. A description may contain simple rich text; everything else is shown as
 * literal text. `markupOf` escapes what is text, because a parser of HTML loses the words after a
 * `<` that begins no complete tag; the sanitizer then judges what is left.
 *
 * The time is linear in the length of the text. The HTML parser searches its stack of open
 * elements at every tag, so text that nests deeper than {@link MAX_NESTING} is not parsed.
 */
import { LRUCache } from 'lru-cache';
import sanitizeHtml from 'sanitize-html';
import { DESCRIPTION_TAGS, LINE_END, markupOf } from '../../markup.ts';
import { cut, cutDescription } from '../shop/description.ts';

/** Of every link in a description. */
const REL = 'nofollow noopener';

/** The allow-list, which decides what is safe, whatever has been escaped before. */
const ALLOWED: sanitizeHtml.IOptions = {
  allowedTags: [...DESCRIPTION_TAGS],
  allowedAttributes: { a: ['href', 'rel'], th: ['scope'] },
  allowedSchemes: ['https', 'http', 'mailto', 'tel'],
  allowProtocolRelative: false,
  disallowedTagsMode: 'discard',
  transformTags: { a: sanitizeHtml.simpleTransform('a', { rel: REL }) },
  parseStyleAttributes: false,
};

/** Levels of nested elements; a description that nests deeper is shown as plain text. */
export const MAX_NESTING = 100;

/** UTF-16 units of markup that a summary is made from. */
const MAX_SUMMARY_SOURCE = 4096;

/** UTF-16 units of cached descriptions and their HTML: the SKUs of an SPU share its descriptions. */
const CACHE_SIZE = 4 * 1024 * 1024;

/** Also an item that is in no list: HTML ends a paragraph where one begins. */
const BLOCK = /<(?:p|h[34]|ul|ol|li|blockquote|table)\b/;

/** A `<` of markup at which a word ends: a part of a word may be bold or a link. */
const WORD_END = /<(?!\/?(?:a|strong|b|em|i|u|s|sub|sup|code)\b)/gi;

/** Splits the sanitizer's output, in which every element but `br` has its end tag. */
const TAG_OR_BLANK_LINE = /(<[^<>]*>|\r?\n[ \t]*\r?\n\s*)/;

const ANY_TAG = /(<[^<>]*>)/;

const BLANK_LINE = /^\r?\n[ \t]*\r?\n/;

const TAG = /<(\/?)([a-z][^\s/>]*)/gi;

/** Elements that have no content. */
const VOID = new Set('area base br col embed hr img input link meta source track wbr'.split(' '));

/** An opening tag ends the innermost open elements that are in the same list. */
const IMPLIED_ENDS = [['p'], ['li'], ['thead', 'tbody', 'tr', 'td', 'th']];

const cached = new LRUCache<string, string>({
  maxSize: CACHE_SIZE,
  sizeCalculation: (html, key) => html.length + key.length,
});

/**
 * @param text plain text, or simple HTML, of any length.
 * @param label what the text is about, as screen readers name its tables; without special
 *   characters of HTML.
 * @returns safe HTML for the content of a block element. Blank lines outside of block elements
 *   separate paragraphs.
 */
export function richText(text: string, label: string): string {
  const key = `${label}\n${text}`;
  const found = cached.get(key);
  if (found !== undefined) return found;
  const shown = cutDescription(text);
  const markup = markupOf(shown);
  const safe = nestingIsBounded(markup) ? sanitized(markup, label) : escapeText(shown);
  const html = BLOCK.test(safe) ? withParagraphs(safe) : paragraphs(safe);
  cached.set(key, html);
  return html;
}

/**
 * HTML allows `rel` only beside `href`, which an anchor may lack or may have lost. Browsers ignore
 * line breaks in an address, and {@link paragraphs} would take them for those of the text.
 */
function sanitized(markup: string, label: string): string {
  const html = sanitizeHtml(markup, ALLOWED)
    .replaceAll(`<a rel="${REL}">`, '<a>')
    .replace(/<[^<>]*>/g, (tag) => tag.replace(/[\r\n]/g, ''));
  return withScrollingTables(html, label);
}

/**
 * A table may be wider than the page, so it is put into an element that scrolls, also by the
 * keyboard. It has a role and a name, because it can have the focus.
 *
 * Not a table in a table: outside of a cell it ends the other one in a browser, and the end tag of
 * an element around it would end the element of the page that contains the description.
 */
function withScrollingTables(html: string, label: string): string {
  let depth = 0;
  return html.replace(/<\/?table>/g, (tag) => {
    if (tag === '</table>') {
      depth -= 1;
      return depth === 0 ? `${tag}</div>` : tag;
    }
    depth += 1;
    return depth === 1
      ? `<div class="table" role="group" aria-label="${label}" tabindex="0">${tag}`
      : tag;
  });
}

/**
 * The words of a description, without its tags, on one line.
 *
 * @param length UTF-16 units; a longer line is cut as {@link summaryOf} does.
 */
export function summaryOfHtml(text: string, length: number): string {
  const markup = beginning(markupOf(cutDescription(text)), MAX_SUMMARY_SOURCE);
  const words = nestingIsBounded(markup)
    ? sanitizeHtml(markup.replace(WORD_END, ' <'), { allowedTags: [], textFilter: unescape })
    : cut(text, MAX_SUMMARY_SOURCE);
  return summaryOf(words, length);
}

/**
 * Plain text on one line. Tags and character references in it are literal text.
 *
 * @param length UTF-16 units; a longer line is cut, at a word if there is one near the end.
 */
export function summaryOf(text: string, length: number): string {
  const line = text.replace(/\s+/g, ' ').trim();
  if (line.length <= length) return line;
  const end = line.lastIndexOf(' ', length - 2);
  // In a script without spaces the last one may be far away.
  return `${end < length / 2 ? cut(line, length - 1) : line.slice(0, end)}…`;
}

/** The first UTF-16 units of markup, without a reference or a tag that is cut off at the end. */
function beginning(markup: string, length: number): string {
  if (markup.length <= length) return markup;
  return ['&', '<'].reduce(
    (start, first) => {
      const at = start.lastIndexOf(first);
      const last = at === -1 ? '' : start.slice(at);
      return markupOf(last) === last ? start : start.slice(0, at);
    },
    cut(markup, length),
  );
}

/** Whether the parser's stack of open elements stays within {@link MAX_NESTING}. */
function nestingIsBounded(text: string): boolean {
  const open: string[] = [];
  for (const [, slash, tag = ''] of text.matchAll(TAG)) {
    const name = tag.toLowerCase();
    if (slash === '/') {
      const at = open.lastIndexOf(name);
      if (at !== -1) open.length = at;
      continue;
    }
    if (VOID.has(name)) continue;
    const ends = IMPLIED_ENDS.find((names) => names.includes(name)) ?? [];
    while (ends.includes(open.at(-1) ?? '')) open.pop();
    if (open.push(name) > MAX_NESTING) return false;
  }
  return true;
}

/** Leaves block elements as they are; between them is plain text, whose lines are paragraphs. */
function withParagraphs(html: string): string {
  const shown: string[] = [];
  let text = '';
  let element = '';
  let depth = 0;
  for (const piece of html.split(ANY_TAG)) {
    const isEnd = piece.startsWith('</');
    if (!isEnd && piece.startsWith('<') && !piece.startsWith('<br')) depth += 1;
    element += piece;
    if (isEnd) depth -= 1;
    if (depth > 0) continue;
    // An inline element that contains a block cannot be in a paragraph.
    if (BLOCK.test(element)) {
      shown.push(paragraphs(text), element);
      text = '';
    } else text += element;
    element = '';
  }
  return [...shown, paragraphs(text)].filter((part) => part !== '').join('\n');
}

/** A blank line inside an element stays a blank line: two paragraphs cannot share an element. */
function paragraphs(html: string): string {
  const parts = [''];
  let depth = 0;
  for (const piece of html.split(TAG_OR_BLANK_LINE)) {
    if (piece.startsWith('</')) depth -= 1;
    else if (piece.startsWith('<') && !piece.startsWith('<br')) depth += 1;
    if (depth === 0 && BLANK_LINE.test(piece)) parts.push('');
    else parts.push(`${parts.pop()}${piece}`);
  }
  return parts
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => `<p>${part.replace(LINE_END, '<br>\n')}</p>`)
    .join('\n');
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Undoes what sanitize-html escapes in text. */
function unescape(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}
