/** The SKUs that the options of an SPU make possible, and those that exist. */
import type { Changes } from '../../api/items.ts';
import type { Item, Pair } from '../../api/types.ts';
import { chosenOf } from '../values.ts';
import type { SpecChoices } from './specs.ts';
import { textOf } from '../../api/text-of.ts';

/** More combinations than this are not shown: nobody reads them. */
export const MAX_COMBINATIONS = 500;

export interface Combination {
  readonly key: string;
  readonly pairs: readonly Pair[];
  /** `Silver, 128 GB`. */
  readonly label: string;
  /** SKUs with exactly these options. */
  readonly skus: readonly Item[];
}

/** How many combinations there are. */
export function countCombinations(specs: readonly SpecChoices[]): number {
  const used = specs.filter(({ options }) => options.length > 0);
  return used.length === 0 ? 0 : used.reduce((count, { options }) => count * options.length, 1);
}

/** Every combination of options: one option of each specification that has options. */
export function combinationsOf(
  specs: readonly SpecChoices[],
  skus: readonly Item[],
): Combination[] {
  if (countCombinations(specs) === 0) return [];
  let made: { pairs: Pair[]; values: string[] }[] = [{ pairs: [], values: [] }];
  for (const { id: spec_id, options } of specs) {
    if (options.length === 0) continue;
    made = made.flatMap(({ pairs, values }) =>
      options.map((option) => ({
        pairs: [...pairs, { spec_id, option_id: option.id }],
        values: [...values, option.value],
      })),
    );
  }
  const existing = Map.groupBy(skus, combinationOf);
  return made.map(({ pairs, values }) => {
    const key = keyOf(pairs);
    return { key, pairs, label: values.join(', '), skus: existing.get(key) ?? [] };
  });
}

/** SKUs that are none of the combinations: a specification is missing, or its option is gone. */
export function othersOf(combinations: readonly Combination[], skus: readonly Item[]): Item[] {
  const shown = new Set(combinations.flatMap((each) => each.skus.map(({ id }) => id)));
  return skus.filter(({ id }) => !shown.has(id));
}

/** The key of the combination of a SKU, whether its SPU has it or not. */
export function combinationOf(sku: Item): string {
  return keyOf(effective(sku));
}

/** Of several records of one specification the last counts. */
function effective(sku: Item): Pair[] {
  const chosen = chosenOf((sku['specs'] ?? []) as readonly Pair[]);
  return Object.entries(chosen).flatMap(([spec, option]) =>
    option === null ? [] : [{ spec_id: Number(spec), option_id: option }],
  );
}

function keyOf(pairs: readonly Pair[]): string {
  return pairs
    .map(({ spec_id, option_id }) => `${spec_id}=${option_id}`)
    .sort()
    .join(' ');
}

/** What all new SKUs have alike. */
export interface Common {
  readonly price: number;
  readonly cost_price: number;
  readonly market_price: number;
  readonly stock: number;
  readonly is_launched: boolean;
}

/** The SKU of a combination that has none. */
export function skuFor(spu: Item, { pairs, label }: Combination, common: Common): Changes {
  return {
    name: `${textOf(spu['name'])}, ${label}`,
    caption: '',
    spu_id: spu.id,
    category_id: spu['category3_id'] as number,
    ...common,
    specs: pairs,
  };
}
