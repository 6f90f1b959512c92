/** How deep and how long JSON may be. The engine's parser bears any depth; what comes after need not. */
import { CatalogError } from '../errors.ts';

export interface JsonLimits {
  /** Arrays and objects within one another; an object of plain values has depth 1. */
  readonly depth: number;
  /** Elements of one array. */
  readonly elements: number;
}

/**
 * Walks a value level by level, without recursion: a hostile one could exhaust the stack.
 *
 * @param value parsed JSON.
 * @throws CatalogError `invalid`.
 */
export function requireWithin({ depth, elements }: JsonLimits, value: unknown): void {
  let level = isNested(value) ? [value] : [];
  for (let reached = 1; level.length > 0; reached += 1) {
    if (reached > depth) throw tooMuch(`the body is nested more than ${depth} levels deep`);
    const next: object[] = [];
    for (const nested of level) {
      if (Array.isArray(nested) && nested.length > elements) {
        throw tooMuch(`an array of the body has ${nested.length} elements, more than ${elements}`);
      }
      for (const each of Object.values(nested)) if (isNested(each)) next.push(each);
    }
    level = next;
  }
}

function isNested(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function tooMuch(message: string): CatalogError {
  return new CatalogError('invalid', message, { fields: {} });
}
