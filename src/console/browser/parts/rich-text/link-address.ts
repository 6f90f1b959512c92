/** Where links of descriptions may lead. */

/** Schemes of links that the pages show (docs/pages.md). */
export const LINK_SCHEMES = /^(?:https?|mailto|tel):/i;

/** Longer addresses are no links that a person types. */
const MAX_LENGTH = 2000;

/**
 * The address that a person means: `a.example/b` is one of the web.
 *
 * @returns null if the pages would not show it as a link.
 */
export function linkAddress(typed: string): string | null {
  const text = typed.trim();
  const address = /^[a-z][a-z0-9+.-]*:/i.test(text) ? text : `https://${text}`;
  if (text === '' || text.length > MAX_LENGTH) return null;
  return LINK_SCHEMES.test(address) && URL.canParse(address) ? address : null;
}
