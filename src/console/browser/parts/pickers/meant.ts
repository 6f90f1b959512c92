/** What a text means that the user has typed into a picker and left there. */

interface Named {
  readonly id: number;
  readonly label: string;
}

/**
 * @param choices what was found for the text.
 * @param value the id that the picker has; it decides between choices of the same name.
 * @returns the only choice, or the only one of this name whatever the case; undefined if the user
 *   has to choose.
 */
export function meantBy<T extends Named>(
  text: string,
  choices: readonly T[],
  value: number | null,
): T | undefined {
  const wanted = text.trim().toLowerCase();
  const same = choices.filter(({ label }) => label.trim().toLowerCase() === wanted);
  const [first, ...others] = same.length > 0 ? same : choices;
  return others.length === 0 ? first : same.find(({ id }) => id === value);
}
