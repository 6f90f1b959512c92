/** The state of the form of one item: what was read, what is typed, what the server said of it. */
import { batch, type ReadonlySignal, computed, signal } from '@preact/signals';
import { type Collection, responseName } from '../api/collections.ts';
import { CreationKey } from '../api/creation-key.ts';
import type { Changes, Loaded } from '../api/items.ts';
import { chainOf, levelsOf } from '../api/references.ts';
import { fieldKindOf, type Schema } from '../api/schema.ts';
import { textOf } from '../api/text-of.ts';
import type { Item, Value } from '../api/types.ts';
import { currency, locale, priceInput } from '../messages/text.ts';
import { amountOf } from '../messages/typed-numbers.ts';
import { draftName, keepDraft, readDraft } from './drafts.ts';
import {
  changedChoices,
  type Choice,
  type Chosen,
  differ,
  type FormField,
  initialOf,
  judge,
  only,
  type Typed,
  type TypedFields,
  typedOf,
} from './values.ts';

export type Problems = Readonly<Record<string, string>>;

export class FormState {
  readonly collection: Collection;
  readonly fields: readonly FormField[];
  /** What the server has, as it was read last; null for a new item. */
  readonly base = signal<Loaded | null>(null);
  readonly typed = signal<TypedFields>({});
  /** Fields that the user has left, whose problems are shown. */
  readonly touched = signal<ReadonlySet<string>>(new Set());
  /** What the server refused, by attribute. */
  readonly refused = signal<Problems>({});
  /** Whether changes of an earlier visit were put back. */
  readonly restored = signal(false);
  /** Whether the page in the shop is shown beside the form. */
  readonly previewed = signal(false);
  /** The category from which a save has moved an SPU; null if none has. */
  readonly movedFrom = signal<number | null>(null);
  /** What was sent when responses were lost, so that the server may have one of them. */
  readonly unanswered = signal<readonly TypedFields[]>([]);
  /** Of the request that creates a new item. */
  readonly creation = new CreationKey();
  /** Whether the form differs from what the server has, or may have. */
  readonly dirty: ReadonlySignal<boolean>;
  readonly problems: ReadonlySignal<Problems>;
  /** What a new item starts with. */
  readonly #initial: TypedFields;
  #name: string;

  /**
   * @param base null for a new item.
   * @param initial what a new item starts with.
   */
  constructor(collection: Collection, schema: Schema, base: Loaded | null, initial: TypedFields) {
    this.collection = collection;
    this.fields = Object.entries(schema).map(([attribute, described]) => ({
      attribute,
      kind: fieldKindOf(collection.name, attribute, described),
      schema: described,
    }));
    this.#initial = initial;
    this.#name = draftName(collection.name, base?.item.id ?? null, initial);
    this.base.value = base;
    this.typed.value = this.#typedOf(base?.item ?? null);
    this.dirty = computed(() => this.unsavedFields().length > 0);
    this.problems = computed(() => this.#judgeAll());
  }

  /** Puts back what an earlier visit left unsaved. */
  restore(): void {
    const draft = readDraft(this.#name);
    if (draft === null) return;
    if (draft.creation !== undefined) this.creation.restore(draft.creation);
    batch(() => {
      if (draft.item !== null) this.base.value = { item: draft.item, etag: draft.etag ?? '' };
      const { locale: from = locale.value } = draft;
      const put = (fields: TypedFields): TypedFields => ({
        ...this.#typedOf(draft.item),
        ...(from === locale.value ? fields : this.#translated(fields, from)),
      });
      this.typed.value = put(draft.typed);
      this.unanswered.value = (draft.unanswered ?? []).map(put);
      this.restored.value = true;
    });
  }

  /** Keeps what is unsaved. */
  keep(): void {
    const unsaved = this.unsavedFields();
    const { item = null, etag = null } = this.base.value ?? {};
    const draft = {
      typed: only(unsaved, this.typed.value),
      unanswered: this.unanswered.value.map((sent) => only(this.changedFields(item, sent), sent)),
      item,
      etag,
      locale: locale.value,
      creation: this.creation.last,
    };
    keepDraft(this.#name, unsaved.length === 0 ? null : draft);
  }

  set(attribute: string, value: Typed): void {
    const { [attribute]: _, ...others } = this.refused.value;
    batch(() => {
      this.refused.value = others;
      this.typed.value = {
        ...this.typed.value,
        [attribute]: value,
        ...this.#implied(attribute, value),
      };
    });
  }

  /**
   * Writes prices as the language that is shown writes them: `64.900` is another price in German.
   *
   * @param from the locale in which they were typed.
   */
  translate(from: string): void {
    this.typed.value = this.#translated(this.typed.value, from);
    this.unanswered.value = this.unanswered.value.map((sent) => this.#translated(sent, from));
  }

  #translated(fields: TypedFields, from: string): TypedFields {
    const typed = { ...fields };
    for (const { attribute, kind } of this.fields) {
      if (kind !== 'price') continue;
      const amount = amountOf(textOf(typed[attribute]), from, currency.value);
      if (amount !== null) typed[attribute] = priceInput(amount);
    }
    return typed;
  }

  /** Choices among the specifications of a SKU go with its SPU, and are back with it. */
  #choicesOf(spu: Typed): TypedFields {
    if (spu === this.typed.value['spu_id']) return {};
    const item = this.base.value?.item ?? null;
    return { specs: (spu === item?.['goods_id'] && this.#typedOf(item)['specs']) || {} };
  }

  /** A category of an SPU says which ones stand above it. */
  #implied(attribute: string, value: Typed): TypedFields {
    if (this.collection.name === 'skus' && attribute === 'spu_id') return this.#choicesOf(value);
    const level = /^category([123])_id$/.exec(attribute)?.[1];
    if (level === undefined || typeof value !== 'number') return {};
    const implied: Record<string, Typed> = { ...levelsOf(value) };
    for (const below of [2, 3].filter((each) => each > Number(level))) {
      const name = `category${below}_id`;
      const current = this.typed.value[name];
      if (typeof current === 'number' && !chainOf(current).includes(value)) implied[name] = null;
    }
    return implied;
  }

  attributes(): string[] {
    return this.fields.map(({ attribute }) => attribute);
  }

  touch(attribute: string): void {
    if (this.touched.value.has(attribute)) return;
    this.touched.value = new Set([...this.touched.value, attribute]);
  }

  /**
   * Shows every problem, except what the server refused before: only another request can tell
   * whether it still does.
   *
   * @returns whether there is none.
   */
  validate(): boolean {
    this.refused.value = {};
    this.touched.value = new Set(this.attributes());
    return Object.keys(this.problems.value).length === 0;
  }

  /**
   * Fields that say something else than the server.
   *
   * @param item what the server has; what was read last if it is left out.
   * @param typed what the fields hold; what they hold now if it is left out.
   */
  changedFields(
    item: Item | null = this.base.value?.item ?? null,
    typed: TypedFields = this.typed.value,
  ): FormField[] {
    const base = this.#typedOf(item);
    return this.fields.filter((field) => differ(field, base, typed));
  }

  /** Fields that say something else than the server, or than what it may have. */
  unsavedFields(): FormField[] {
    const known = this.#typedOf(this.base.value?.item ?? null);
    const all = [known, ...this.unanswered.value];
    return this.fields.filter((each) => all.some((has) => differ(each, has, this.typed.value)));
  }

  /** What a PATCH sends, or a POST if there is no item yet. Specifications are not in it. */
  changes(): Changes {
    const all = this.allValues();
    if (this.base.value === null) return all;
    const changed = new Set(this.changedFields().map(({ attribute }) => attribute));
    return Object.fromEntries(Object.entries(all).filter(([name]) => changed.has(name)));
  }

  /** The value of every field that is valid. */
  allValues(): Changes {
    const entries = this.fields.flatMap((field): [string, Value][] => {
      if (field.kind === 'specs') return [];
      const judged = judge(field, this.typed.value[field.attribute] ?? null);
      return 'value' in judged ? [[field.attribute, judged.value]] : [];
    });
    return Object.fromEntries(entries);
  }

  /** The choices of specifications that differ from what the server has. */
  changedSpecs(): readonly Choice[] {
    const base = this.#typedOf(this.base.value?.item ?? null)['specs'] ?? {};
    const now = this.typed.value['specs'] ?? {};
    return changedChoices(base as Chosen, now as Chosen);
  }

  /**
   * What was sent becomes what the server has. What was typed since then stays, unsaved.
   *
   * @param sent what the form held when it was sent.
   */
  saved(loaded: Loaded, sent: TypedFields): void {
    const before = this.base.value?.item['category3_id'];
    const since = Object.entries(this.typed.value).filter(([name, typed]) => typed !== sent[name]);
    keepDraft(this.#name, null);
    this.#name = draftName(this.collection.name, loaded.item.id);
    batch(() => {
      if (typeof before === 'number' && before !== loaded.item['category3_id']) {
        this.movedFrom.value = before;
      }
      this.rebase(loaded, { ...this.#typedOf(loaded.item), ...Object.fromEntries(since) });
      this.touched.value = new Set();
      this.restored.value = false;
    });
    this.keep();
  }

  /** Another state of the item becomes the one that changes are measured against. */
  rebase(loaded: Loaded, typed: TypedFields): void {
    batch(() => {
      this.base.value = loaded;
      this.typed.value = typed;
      this.refused.value = {};
      this.unanswered.value = [];
    });
  }

  /** Forgets what is unsaved. */
  discard(): void {
    this.typed.value = this.#typedOf(this.base.value?.item ?? null);
    this.restored.value = false;
    // What is typed next has nothing to do with what may have been written.
    this.creation.forget();
    this.unanswered.value = [];
    keepDraft(this.#name, null);
  }

  /** What a field shows for an item. */
  typedFor(field: FormField, item: Item | null): Typed {
    if (item === null) return initialOf(field);
    return typedOf(field, item[responseName(this.collection, field.attribute)]);
  }

  #typedOf(item: Item | null): TypedFields {
    const typed = this.fields.map((field) => [field.attribute, this.typedFor(field, item)]);
    return { ...Object.fromEntries(typed), ...(item === null && this.#initial) };
  }

  #judgeAll(): Problems {
    const problems: Record<string, string> = {};
    for (const field of this.fields) {
      if (field.kind === 'specs') continue;
      const judged = judge(field, this.typed.value[field.attribute] ?? null);
      if ('problem' in judged) problems[field.attribute] = judged.problem;
    }
    return { ...problems, ...this.refused.value };
  }
}
