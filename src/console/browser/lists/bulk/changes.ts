/** What a bulk edit makes of each item. */
import type { Item, Value } from '../../api/types.ts';

/** How a price is rounded after a percentage, in the smallest unit of the currency. */
export interface Rounding {
  readonly step: number;
  /** Taken off afterwards: 1 makes 20.00 to 19.99. */
  readonly minus: number;
}

export type Operation =
  | { readonly kind: 'set'; readonly attribute: string; readonly value: Value }
  | {
      readonly kind: 'percent';
      readonly attribute: string;
      /** Hundredths of a per cent, so that no fraction is rounded: 250 is 2.5 %. */
      readonly hundredths: number;
      readonly rounding: Rounding;
    };

export interface Change {
  readonly item: Item;
  readonly attribute: string;
  readonly before: Value;
  readonly after: Value;
}

/** A percentage as a person types it: `5`, `-2.5`, `+10`. @returns hundredths of a per cent, or null. */
export function parsePercent(text: string): number | null {
  const [, sign = '', whole = '', fraction = ''] =
    /^([-+−]?)(\d{1,4})(?:[.,](\d{1,2}))?%?$/u.exec(text.replace(/\s/g, '')) ?? [];
  if (whole === '') return null;
  const hundredths = Number(whole + fraction.padEnd(2, '0'));
  return sign === '-' || sign === '−' ? -hundredths : hundredths;
}

/**
 * A price after a percentage, rounded. It is 0 only if it was 0 before it was rounded: the nearest
 * step of a small price would make it free.
 */
export function percentOf(amount: number, hundredths: number, { step, minus }: Rounding): number {
  const exact = (BigInt(amount) * BigInt(10_000 + hundredths) * 2n + 10_000n) / 20_000n;
  if (exact === 0n) return 0;
  const rounded = Math.round(Number(exact) / step) * step;
  return Math.max(step, rounded) - minus;
}

function resultOf(item: Item, operation: Operation): Value {
  if (operation.kind === 'set') return operation.value;
  const { attribute, hundredths, rounding } = operation;
  return percentOf(Number(item[attribute]), hundredths, rounding);
}

/** Items that an operation changes, with their values before and after. @param name as responses call the attribute. */
export function changesOf(
  items: readonly Item[],
  operation: Operation,
  name: string = operation.attribute,
): Change[] {
  return items.flatMap((item) => {
    const before = (item[name] ?? null) as Value;
    const after = resultOf(item, operation);
    return before === after ? [] : [{ item, attribute: operation.attribute, before, after }];
  });
}
