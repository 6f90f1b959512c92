/** Links from one SKU of an SPU to the others, by their options. */

/** A specification of a SKU, with the option that it has. */
export interface Specification {
  readonly id: number;
  readonly name: string;
  readonly optionId: number;
  readonly value: string;
}

/** One SKU among those that an SPU offers. */
export interface Variant {
  readonly id: number;
  readonly launched: boolean;
  readonly specifications: readonly Specification[];
}

/** A specification in which the SKUs of an SPU differ. */
export interface Choice {
  readonly name: string;
  readonly options: readonly {
    readonly value: string;
    /** The SKU that has it; null for what the page's own SKU has. */
    readonly sku: number | null;
    /** Whether that SKU is on sale. */
    readonly launched: boolean;
  }[];
}

/**
 * For every specification in which the variants differ, its options. Each leads to the variant that
 * has it and otherwise agrees best with the SKU; among equals, to the first that is on sale, because
 * a SKU may have taken the place of one with the same options.
 *
 * @param variants by ascending id. An SPU may have so many SKUs that the page's own is not among
 *   them; its options are choices all the same.
 * @param sku the page's own.
 */
export function choicesOf(variants: readonly Variant[], sku: Variant): readonly Choice[] {
  const own = new Map(sku.specifications.map(({ id, optionId }) => [id, optionId]));
  const choices = new Map<number, { name: string; options: Map<number, Candidate> }>();
  for (const variant of [...variants, sku]) {
    const agreement = agreementOf(variant, own);
    for (const { id, name, optionId, value } of variant.specifications) {
      let choice = choices.get(id);
      if (choice === undefined) choices.set(id, (choice = { name, options: new Map() }));
      const best = choice.options.get(optionId);
      const candidate = { value, variant, agreement };
      if (best === undefined || isBetter(candidate, best)) choice.options.set(optionId, candidate);
    }
  }
  return [...choices]
    .filter(([, { options }]) => options.size > 1)
    .toSorted(([a], [b]) => a - b)
    .map(([id, { name, options }]) => ({
      name,
      options: [...options]
        .toSorted(([a], [b]) => a - b)
        .map(([optionId, { value, variant }]) => ({
          value,
          sku: own.get(id) === optionId ? null : variant.id,
          launched: variant.launched,
        })),
    }));
}

interface Candidate {
  readonly value: string;
  readonly variant: Variant;
  readonly agreement: number;
}

function isBetter({ agreement, variant }: Candidate, best: Candidate): boolean {
  if (agreement !== best.agreement) return agreement > best.agreement;
  return variant.launched && !best.variant.launched;
}

/** In how many specifications a variant has the SKU's own option. */
function agreementOf({ specifications }: Variant, own: ReadonlyMap<number, number>): number {
  let agreement = 0;
  for (const { id, optionId } of specifications) if (own.get(id) === optionId) agreement += 1;
  return agreement;
}
