/** How the rows of a file are matched with those of the store (spec 12.9). */
import type { Kind } from '../../../model/kind.ts';
import { namingOf } from '../../../model/relations.ts';

/** The ways to match. */
export const MATCHES = ['id', 'code', 'name'] as const;

export type Match = (typeof MATCHES)[number];

/** How rows of a kind can be matched: SKUs alone have a code. */
export function matchesOf(kind: Kind): readonly Match[] {
  return MATCHES.filter((match) => match !== 'code' || 'code' in kind.attributes);
}

/** What to import, and how its rows are matched. */
export interface ImportTask {
  readonly kind: Kind;
  readonly match: Match;
  readonly createMissing: ReadonlySet<string>;
}

/** The attribute by which rows of a file are matched with those of the store. */
export function matchedBy({ kind, match }: ImportTask): string {
  return match === 'name' ? namingOf(kind.name).attribute : match;
}

/** The text of a cell or member by its name; undefined if the file has no such column. */
export type TextOf = (name: string) => string | undefined;

/** What is wrong with a required attribute that is missing in a row that creates an item. */
export function requiredText(task: ImportTask, textOf: TextOf): string {
  const attribute = matchedBy(task);
  const text = textOf(attribute) ?? '';
  const reason =
    text === ''
      ? `it has no ${attribute}`
      : `no ${task.kind.label} has the ${attribute} ${JSON.stringify(text)}`;
  return `is required, because the row creates an item: ${reason}`;
}
