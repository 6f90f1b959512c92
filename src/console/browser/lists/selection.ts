/** The items that are selected, on any page of a list. */
import { type Signal, useSignal } from '@preact/signals';
import type { Item } from '../api/types.ts';

export interface Selection {
  readonly items: Signal<ReadonlyMap<number, Item>>;
  readonly set: (items: readonly Item[], selected: boolean) => void;
  readonly clear: () => void;
}

export function useSelection(): Selection {
  const items = useSignal<ReadonlyMap<number, Item>>(new Map());
  return {
    items,
    set(changed, selected) {
      const next = new Map(items.value);
      for (const item of changed) {
        if (selected) next.set(item.id, item);
        else next.delete(item.id);
      }
      items.value = next;
    },
    clear() {
      items.value = new Map();
    },
  };
}
