/** Choices of a picker beyond those that a search shows first; lists load it later. */
import { type Choice, FIRST_PART, search, withAllOf } from '../../api/references.ts';
import { complain } from '../notices.tsx';
import { isNamed, namedFirst } from './meant.ts';
import type { Found, Search, SearchProps } from './use-search.ts';

/**
 * Adds the next choices, and what has the name that was typed wherever it is in the list. It marks
 * what has this name, or else the first that is new if a line was marked. A search that is changed
 * meanwhile takes none of them.
 */
export function showMore({ collection, none }: SearchProps, { found, marked }: Search): void {
  const before = found.value;
  if (before === null || before.choices === null || before.isReading) return;
  const { text, choices } = before;
  const asked = { ...before, isReading: true };
  found.value = asked;
  const isWanted = () => found.value === asked;
  readMore(collection, before, isWanted).then(
    ({ named, next }) => {
      if (!isWanted()) return;
      // Items that others have created or deleted meanwhile move the rest of the list.
      const known = new Set(choices.map(({ id }) => id));
      const isNew = ({ id }: Choice) => known.size < known.add(id).size;
      const added = namedFirst(text, withAllOf(text, [...named, ...next.choices].filter(isNew)));
      const all = namedFirst(text, [...choices, ...added]);
      found.value = { ...next, text, choices: all, isReading: false };
      const [first] = added;
      if (first === undefined) return;
      // Enter has shown more, and pressed again it would choose what nobody has named.
      if (marked.value === -1 && !isNamed(text, first)) return;
      // "Any" is the first offer if nothing is typed.
      marked.value = all.indexOf(first) + (none !== undefined && text === '' ? 1 : 0);
    },
    (error: unknown) => {
      if (isWanted()) found.value = before;
      complain(error);
    },
  );
}

async function readMore(
  collection: SearchProps['collection'],
  before: Found,
  isWanted: () => boolean,
) {
  const { text } = before;
  const next = await search(collection, text, before.read);
  const known = [...(before.choices ?? []), ...next.choices];
  const isKnown = text.trim() === '' || known.some((each) => isNamed(text, each));
  if (isKnown) return { named: [], next };
  const part = (from: number) => search(collection, text, from, undefined, FIRST_PART);
  const name = asNamed(text.trim(), known);
  let low = next.read;
  let high = next.total;
  // The list is sorted by name, by code point.
  while (low < high && isWanted()) {
    const from = low + Math.floor((high - low) / 2 / FIRST_PART) * FIRST_PART;
    const { choices } = await part(from);
    const named = choices.filter((each) => isNamed(text, each));
    const [first, last] = [choices[0], choices.at(-1)];
    if (named.length > 0) return { named, next };
    if (last !== undefined && last.label < name) low = from + FIRST_PART;
    else if (first !== undefined && first.label < name) break;
    else high = from;
  }
  return { named: [], next };
}

/** What is typed, in capitals and small letters like those of the choice that begins most like it. */
function asNamed(text: string, choices: readonly Choice[]): string {
  let best = '';
  for (const { label } of choices) {
    let length = 0;
    while (length < text.length && label[length]?.toLowerCase() === text[length]?.toLowerCase())
      length += 1;
    if (length > best.length) best = label.slice(0, length);
  }
  return best + text.slice(best.length);
}
