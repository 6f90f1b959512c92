/** Where each list was left, with its search, filters and page: in this tab, also after a reload. */
import type { CollectionName } from '../api/types.ts';
import { tabStorage } from '../start/storage.ts';

function keyOf(name: CollectionName): string {
  return `catalog.list.${name}`;
}

/** @param address of the list that is shown, below `/console`. */
export function keepListAddress(name: CollectionName, address: string): void {
  tabStorage.setItem(keyOf(name), address);
}

/** @returns the address that was kept last, below `/console`; of the whole list if none was. */
export function lastListAddress(name: CollectionName): string {
  return tabStorage.getItem(keyOf(name)) ?? `/${name}`;
}
