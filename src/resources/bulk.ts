/** The elements of an array that is written as a whole (spec 9.2). */
import type { Kind, Row } from '../model/kind.ts';
import type { Transaction, LongTransaction } from '../store/writer/draft.ts';
import type { View } from '../store/view.ts';
import { type Input, Problems, type Update } from './input.ts';
import type { Representation } from './representation.ts';

/**
 * Writes the elements one after the other, and yields between them.
 *
 * @param write writes one element.
 * @returns JSON text of the array of what `write` returned.
 */
export function* writeEach<T>(
  transaction: Transaction,
  elements: readonly T[],
  write: (element: T) => Generator<undefined, Representation>,
): ReturnType<LongTransaction<string>> {
  const texts: string[] = [];
  for (const [index, element] of elements.entries()) {
    texts.push((yield* transaction.element(index, () => write(element))).text);
    yield;
  }
  return `[${texts.join(',')}]`;
}

/**
 * The rows that updates name, each with its changes.
 *
 * @param pathOf the prefix of the paths of problems, by the position of an update.
 * @throws CatalogError `invalid`.
 */
export function requireTargets(
  kind: Kind,
  updates: readonly Update[],
  view: View,
  pathOf = (index: number) => `${index}.`,
): { readonly row: Row; readonly input: Input }[] {
  const problems = new Problems();
  const targets = updates.flatMap(({ id, input }, index) => {
    const row = view.get(kind.name, id);
    if (row !== undefined) return [{ row, input }];
    problems.add(`${pathOf(index)}id`, `there is no ${kind.label} ${id}`);
    return [];
  });
  problems.settle();
  return targets;
}
