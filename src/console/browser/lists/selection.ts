/** The items that are selected, on any page of a list. */
import { type Signal, useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { Query } from '../api/paths.ts';
import type { Item } from '../api/types.ts';

export interface Selection {
  readonly items: Signal<ReadonlyMap<number, Item>>;
  /** @param page the query of the page on which they are; only needed to select. */
  readonly set: (items: readonly Item[], selected: boolean, page?: Query) => void;
  readonly clear: () => void;
  /** How often items were unselected. */
  readonly removals: () => number;
  /** The pages on which items were selected, so that they can be read again. */
  readonly pages: () => readonly Query[];
}

/**
 * @returns a selection that lasts as long as the component, on whichever page of the list it is.
 */
export function useSelection(): Selection {
  const items = useSignal<ReadonlyMap<number, Item>>(new Map());
  const pages = useRef(new Map<number, Query>());
  const removals = useRef(0);
  return {
    items,
    set(changed, selected, page = {}) {
      if (!selected) removals.current += 1;
      const next = new Map(items.value);
      for (const item of changed) {
        if (selected) {
          next.set(item.id, item);
          pages.current.set(item.id, page);
        } else {
          next.delete(item.id);
          pages.current.delete(item.id);
        }
      }
      items.value = next;
    },
    clear() {
      removals.current += 1;
      items.value = new Map();
      pages.current.clear();
    },
    removals: () => removals.current,
    pages() {
      const texts = new Set([...pages.current.values()].map((query) => JSON.stringify(query)));
      return [...texts].map((text) => JSON.parse(text) as Query);
    },
  };
}
