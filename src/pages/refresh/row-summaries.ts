/**
 * What has changed in rows that pages show, since their pages were last named. A row has one
 * summary, however often it changes. Summaries only accumulate: a value that changes and changes
 * back stays in the summary, since a page may have been made between the two commits.
 */
import type { KindName, Row, Scalar } from '../../model/kind.ts';
import type { Change } from '../../model/change.ts';
import { ShardedMap } from '../../store/memory/maps/sharded-map.ts';

/** The kinds whose rows pages show. */
export type VisibleKind = Exclude<KindName, 'books' | 'audits' | 'idempotency_keys' | 'webhooks'>;

/**
 * The attributes that pages show, by kind; rows of other kinds are on no page. The operator's own
 * templates may show every attribute of a SKU that gather.ts passes to them.
 */
const VISIBLE: Readonly<Record<VisibleKind, readonly string[]>> = {
  skus: [
    'name',
    'goods_id',
    'caption',
    'category_id',
    'price',
    'market_price',
    'stock',
    'sales',
    'is_launched',
    'code',
  ],
  goods: ['name', 'brand_id', 'category3_id', 'desc_detail', 'desc_pack', 'desc_service'],
  brands: ['name', 'logo'],
  categories: ['name', 'parent_id'],
  specs: ['name', 'goods_id'],
  options: ['value', 'spec_id'],
  sku_specs: ['sku_id', 'spec_id', 'option_id'],
};

/** References whose former values matter, since pages list the rows with the same reference. */
const REFERENCES = ['goods_id', 'category_id', 'parent_id'];

/** A pseudo-attribute of SKUs that stands for their specification records. */
export const RECORDS = 'specs';

/**
 * Millions of rows may wait, most of them new. A new row has no former values, and all of its
 * attributes count as changed, so only its id is kept.
 */
export class RowSummary {
  readonly kind: VisibleKind;
  readonly id: number;
  /** Whether the row was created or deleted. */
  isNewOrGone = false;
  /** Attributes that have changed, of those that pages show. */
  #attributes: Set<string> | null = null;
  /** Former values of changed references. */
  #references: Map<string, Set<Scalar>> | null = null;

  constructor(kind: VisibleKind, id: number) {
    this.kind = kind;
    this.id = id;
  }

  hasAny(attributes: readonly string[]): boolean {
    return this.isNewOrGone || attributes.some((attribute) => this.#attributes?.has(attribute));
  }

  /** The former values of a reference and its current one. @param row as it is now. */
  valuesOf(attribute: string, row: Row | undefined): Set<Scalar> {
    const values = new Set(this.#references?.get(attribute));
    if (row !== undefined) values.add(row[attribute] ?? null);
    return values;
  }

  /** Adds a change, given the row before and after it. */
  addRows(before: Row | null, after: Row | null, changed: readonly string[]): void {
    if (before === null || after === null) this.isNewOrGone = true;
    this.addAttributes(changed);
    if (before === null) return;
    for (const attribute of REFERENCES) {
      if (!(attribute in before) || !this.hasAny([attribute])) continue;
      this.#addFormer(attribute, before[attribute] ?? null);
    }
  }

  addAttributes(changed: readonly string[]): void {
    if (this.isNewOrGone) return;
    this.#attributes ??= new Set();
    for (const attribute of changed) this.#attributes.add(attribute);
  }

  #addFormer(attribute: string, value: Scalar): void {
    this.#references ??= new Map();
    const values = this.#references.get(attribute);
    if (values === undefined) this.#references.set(attribute, new Set([value]));
    else values.add(value);
  }
}

export class RowSummaries {
  #byKind = new Map<VisibleKind, ShardedMap<number, RowSummary>>();
  #size = 0;
  #since = 0;

  /** Rows that have changed. */
  get size(): number {
    return this.#size;
  }

  /** Milliseconds since the first of the changes; 0 if there is none. */
  get age(): number {
    return this.#size === 0 ? 0 : performance.now() - this.#since;
  }

  add(change: Change): void {
    const { kind, id } = change;
    if (!isVisible(kind)) return;
    const before: Row | null = change.before;
    const after: Row | null = change.after;
    const changed = VISIBLE[kind].filter((name) => before?.[name] !== after?.[name]);
    if (changed.length === 0) return;
    if (change.kind === 'sku_specs') {
      for (const row of [change.before, change.after]) {
        if (row !== null) this.#of('skus', row.sku_id).addAttributes([RECORDS]);
      }
    } else {
      this.#of(kind, id).addRows(before, after, changed);
    }
  }

  /** Takes all summaries; later changes begin new ones. */
  *take(): Generator<RowSummary> {
    const taken = this.#byKind;
    this.#byKind = new Map();
    this.#size = 0;
    for (const summaries of taken.values()) yield* summaries.values();
  }

  #of(kind: VisibleKind, id: number): RowSummary {
    let summaries = this.#byKind.get(kind);
    if (summaries === undefined) this.#byKind.set(kind, (summaries = new ShardedMap()));
    let summary = summaries.get(id);
    if (summary === undefined) {
      summaries.set(id, (summary = new RowSummary(kind, id)));
      if (this.#size === 0) this.#since = performance.now();
      this.#size += 1;
    }
    return summary;
  }
}

function isVisible(kind: KindName): kind is VisibleKind {
  return Object.hasOwn(VISIBLE, kind);
}
