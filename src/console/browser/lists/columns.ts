/** Which columns of a list are shown: the choice is kept in this browser. */
import { signal } from '@preact/signals';
import type { Collection } from '../api/collections.ts';
import type { CollectionName } from '../api/types.ts';
import { browserStorage } from '../start/storage.ts';

const KEY = 'catalog.columns';

type Choices = Readonly<Partial<Record<CollectionName, readonly string[]>>>;

function read(): Choices {
  try {
    return JSON.parse(browserStorage.getItem(KEY) ?? '{}') as Choices;
  } catch {
    return {};
  }
}

const choices = signal<Choices>(read());

/** In the order of the collection; the title is always among them. */
export function shownColumns(collection: Collection): readonly string[] {
  const columns: readonly string[] = collection.columns;
  const chosen = choices.value[collection.name] ?? collection.shown;
  return columns.filter((each) => each === collection.title || chosen.includes(each));
}

/** @param columns in any order; null for those that the collection shows by default. */
export function chooseColumns(collection: Collection, columns: readonly string[] | null): void {
  // Another tab may have stored a choice for another collection since.
  const { [collection.name]: _, ...rest } = read();
  choices.value = columns === null ? rest : { ...rest, [collection.name]: columns };
  browserStorage.setItem(KEY, JSON.stringify(choices.value));
}
