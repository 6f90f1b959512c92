/** What the editor shows of a description: the same as the pages. */
import DOMPurify from 'dompurify';
import { DESCRIPTION_TAGS, LINE_END, markupOf } from '../../../../markup.ts';
import { LINK_SCHEMES } from './link-address.ts';

/** As the pages have it (docs/pages.md). */
const ALLOWED = {
  ALLOWED_TAGS: [...DESCRIPTION_TAGS],
  ALLOWED_ATTR: ['href', 'scope'],
  ALLOWED_URI_REGEXP: LINK_SCHEMES,
};

/** The harmless part of some HTML. */
export function sanitized(html: string): DocumentFragment {
  return DOMPurify.sanitize(html, { ...ALLOWED, RETURN_DOM_FRAGMENT: true });
}

const BLOCK = 'p, h3, h4, ul, ol, li, blockquote, table';

/** A description as HTML. Blank lines outside of block elements separate paragraphs, as on the pages. */
export function htmlOf(text: string): string {
  const parts: string[] = [];
  let plain = '';
  for (const node of sanitized(markupOf(text)).childNodes) {
    const box = document.createElement('div');
    box.append(node.cloneNode(true));
    if (box.querySelector(BLOCK) === null) {
      plain += box.innerHTML;
      continue;
    }
    parts.push(paragraphs(plain), box.innerHTML);
    plain = '';
  }
  return [...parts, paragraphs(plain)].join('');
}

/** @param html without block elements. */
function paragraphs(html: string): string {
  return html
    .split(/\r?\n[ \t]*\r?\n\s*/)
    .filter((part) => part.trim() !== '')
    .map((part) => `<p>${part.trim().replace(LINE_END, '<br>')}</p>`)
    .join('');
}
