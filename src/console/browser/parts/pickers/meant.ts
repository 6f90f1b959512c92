/** What a text means that the user has typed into a picker and left there. */

interface Named {
  readonly id: number;
  readonly label: string;
}

/** @returns whether a text is the name of a choice, whatever the case, or its id, as `#177`. */
export function isNamed(text: string, { id, label }: Named): boolean {
  const wanted = text.trim().toLowerCase();
  return label.trim().toLowerCase() === wanted || wanted === `#${id}`;
}

/** @returns the choices with those first that have what was typed as their name, or as their id. */
export function namedFirst<T extends Named>(text: string, choices: readonly T[]): readonly T[] {
  const { named = [], others = [] } = Object.groupBy(choices, (each) =>
    isNamed(text, each) ? 'named' : 'others',
  );
  return [...named, ...others];
}

/**
 * @param choices the first part of what was found, with those first that have this name or id.
 * @param isWhole whether there are no others.
 * @returns the position of the one that Enter chooses; -1 if that is not known: what has this name
 *   may be among the others.
 */
export function firstMeant(
  text: string,
  choices: readonly Named[],
  value: number | null,
  isWhole: boolean,
): number {
  const [first] = choices;
  if (text.trim() === '' || first === undefined) return -1;
  const meant = meantBy(text, choices, value, isWhole);
  if (meant !== undefined) return choices.indexOf(meant);
  return isWhole || isNamed(text, first) ? 0 : -1;
}

/**
 * @param choices what was found for the text.
 * @param value the id that the picker has; it decides between choices of the same name.
 * @param isWhole whether these are all; otherwise what has the name may be among the others.
 * @returns the only choice of all, or the only one of this name or id; undefined if the user has to
 *   choose.
 */
export function meantBy<T extends Named>(
  text: string,
  choices: readonly T[],
  value: number | null,
  isWhole = true,
): T | undefined {
  const same = choices.filter((each) => isNamed(text, each));
  const [first, ...others] = same.length > 0 || !isWhole ? same : choices;
  return others.length === 0 ? first : same.find(({ id }) => id === value);
}
