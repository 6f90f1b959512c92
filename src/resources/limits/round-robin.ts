/**
 * Items of several owners, which are taken in turns.
 *
 * Invariant: between two items of one owner, every other owner that has items has one taken. The
 * items of one owner are taken in order.
 */
export class RoundRobin<Owner, Item> {
  /** The first owner is the next one; no list is empty. */
  readonly #items = new Map<Owner, Item[]>();

  /** Whether there are no items. */
  get isEmpty(): boolean {
    return this.#items.size === 0;
  }

  /** Adds an item after the others of its owner. */
  add(owner: Owner, item: Item): void {
    const items = this.#items.get(owner);
    if (items === undefined) this.#items.set(owner, [item]);
    else items.push(item);
  }

  /** Removes the next item. @returns it; undefined if there are none. */
  take(): Item | undefined {
    const [next] = this.#items;
    if (next === undefined) return undefined;
    const [owner, items] = next;
    const item = items.shift();
    this.#items.delete(owner);
    if (items.length > 0) this.#items.set(owner, items);
    return item;
  }
}
