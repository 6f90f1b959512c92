/**
 * Refusals and warnings of the server in German. The API words them in English, for programs as well, so they
 * are recognised by their text: one that is not known stays as it is.
 */
import { attributesDe } from '../../messages/attributes-de.ts';
import { KINDS } from './kinds.ts';
import { KNOWN } from './known-refusals.ts';

const REFERRED = /^\w+ \d+ is referred to (by the .+)$/s;

/** One of the attributes by which rows refer to a row. */
const REFERRERS = /^by the \w+ of (?:[\w ]+ of )?(\w+) (\d+(?:, \d+)*)( and others)?$/;

/**
 * The attribute before a refusal, perhaps after the number of an element; with the row that has it,
 * or with the one that this row belongs to.
 */
const ATTRIBUTE = /^(?:\d+\.)?(\w+)(?: of (?:[\w ]+ of )?(\w+) (\d+))?: (.+)$/s;

/** @param text of the server, for a request or for one attribute. @returns null if it is not known. */
export function refusalDe(text: string): string | null {
  const bare = text.replace(/^database error: (?:element \d+: )?/, '');
  return attributeText(bare) ?? knownText(bare) ?? referredText(bare) ?? severalTexts(bare);
}

function attributeText(text: string): string | null {
  const [, attribute = '', kind = '', id = '', rest = ''] = ATTRIBUTE.exec(text) ?? [];
  const label = labelOf(attribute);
  const refusal = knownText(rest);
  if (label === '' || refusal === null) return null;
  return `${label}${kind === '' ? '' : ` (${KINDS[kind] ?? kind} ${id})`}: ${refusal}`;
}

function knownText(text: string): string | null {
  for (const [pattern, german] of KNOWN) {
    const found = pattern.exec(text);
    if (found === null) continue;
    return german.replace(/\$([kat]?)(\d)/g, (_, form: string, at: string) => {
      const value = found[Number(at)] ?? '';
      if (form === 'k') return KINDS[value] ?? value;
      if (form === 'a') return value.replace(/\w+/g, (name) => labelOf(name) || name);
      return form === 't' ? (refusalDe(value) ?? value) : value;
    });
  }
  return null;
}

/** @returns "" if the console does not know the attribute. */
function labelOf(attribute: string): string {
  const labels: Readonly<Record<string, unknown>> = attributesDe;
  const label = labels[`attribute.${attribute}`];
  return typeof label === 'string' ? label : '';
}

/** What differs in several rows. */
function severalTexts(text: string): string | null {
  const parts = text.split('; ').map(knownText);
  return parts.includes(null) ? null : parts.join('; ');
}

function referredText(text: string): string | null {
  const parts = REFERRED.exec(text)?.[1]?.split('; ') ?? [];
  const named = parts.map((part) => {
    const [, kind = '', ids = '', others = ''] = REFERRERS.exec(part) ?? [];
    return `${KINDS[kind] ?? kind} ${ids}${others === '' ? '' : ' und weitere'}`;
  });
  return named.length === 0 ? null : `Andere Einträge verweisen darauf: ${named.join('; ')}`;
}
