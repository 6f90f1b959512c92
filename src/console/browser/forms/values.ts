/**
 * What is typed into the fields of a form, and the values that it means. The limits are those that
 * the server states; they are checked while the user types.
 */
import type { AttributeSchema, FieldKind } from '../api/schema.ts';
import type { Pair, Value } from '../api/types.ts';
import { numberProblem, parsePrice, parseWhole, priceInput, t } from '../messages/text.ts';
import { textOf } from '../api/text-of.ts';

/** The option that is chosen for each specification, by its id; null for none. */
export type Chosen = Readonly<Record<string, number | null>>;

/** The option of a specification of a SKU; null for none. */
export type Choice = readonly [specId: number, optionId: number | null];

/** What a field holds: text as it was typed, an id, a choice, or choices. */
export type Typed = string | number | boolean | null | Chosen;

/** What the fields hold, by attribute. */
export type TypedFields = Readonly<Record<string, Typed>>;

/** What a field for a date holds while its parts make no date. The browser does not tell them. */
export const NO_DATE = 'no date';

export interface FormField {
  readonly attribute: string;
  readonly kind: FieldKind;
  readonly schema: AttributeSchema;
}

export type Judged = { readonly value: Value } | { readonly problem: string };

/** Whether a field must not be left empty. Some texts must be sent, and may be empty. */
export function mustBeFilled({ kind, schema }: FormField): boolean {
  const isText = kind === 'text' || kind === 'long text';
  return schema.required && kind !== 'flag' && !(isText && (schema.minLength ?? 0) === 0);
}

/** What a field shows for a value of the API. */
export function typedOf({ kind }: FormField, value: unknown): Typed {
  switch (kind) {
    case 'price':
      return typeof value === 'number' ? priceInput(value) : '';
    case 'integer':
      return typeof value === 'number' ? String(value) : '';
    case 'flag':
      return value === true;
    case 'reference':
      return typeof value === 'number' ? value : null;
    case 'specs':
      return chosenOf((value ?? []) as readonly Pair[]);
    case 'text':
    case 'long text':
    case 'date':
      return typeof value === 'string' ? value : '';
  }
}

/** Of several records of one specification the last counts, as on the SKU's page. */
export function chosenOf(records: readonly Pair[]): Chosen {
  return Object.fromEntries(records.map(({ spec_id, option_id }) => [spec_id, option_id]));
}

/** The choices that are made anew. */
export function changedChoices(before: Chosen, now: Chosen): Choice[] {
  const specs = new Set([...Object.keys(before), ...Object.keys(now)]);
  return [...specs]
    .filter((spec) => (before[spec] ?? null) !== (now[spec] ?? null))
    .map((spec) => [Number(spec), now[spec] ?? null]);
}

/** What a field starts with if there is no item yet. */
export function initialOf(field: FormField): Typed {
  if (field.attribute === 'stock') return '0';
  return typedOf(field, field.schema.default);
}

/** The value that is meant, or what is wrong with it. Not for choices of specifications. */
export function judge(field: FormField, typed: Typed): Judged {
  switch (field.kind) {
    case 'flag':
      return { value: typed === true };
    case 'reference':
      if (typeof typed === 'number') return { value: typed };
      return field.schema.required ? { problem: t('problem.required') } : { value: null };
    case 'price':
      return judgePrice(textOf(typed), field.schema);
    case 'integer':
      return judgeInteger(textOf(typed), field.schema);
    case 'specs':
      return { value: null };
    case 'text':
    case 'long text':
    case 'date':
      return judgeText(textOf(typed), field);
  }
}

/** What some fields hold. */
export function only(fields: readonly FormField[], typed: TypedFields): TypedFields {
  return Object.fromEntries(fields.map(({ attribute }) => [attribute, typed[attribute] ?? null]));
}

/** Whether a field would be saved as another value. */
export function differ(field: FormField, from: TypedFields, to: TypedFields): boolean {
  const [before, now] = [from[field.attribute] ?? null, to[field.attribute] ?? null];
  if (field.kind === 'specs') return changedChoices(before as Chosen, now as Chosen).length > 0;
  if (now === before) return false;
  const [was, is] = [judge(field, before), judge(field, now)];
  const isSame = 'value' in was && 'value' in is && was.value === is.value;
  // White space at the ends, which another client has saved, can be taken off.
  return !isSame || (field.kind === 'text' && textOf(before) !== textOf(before).trim());
}

function judgePrice(text: string, { required }: AttributeSchema): Judged {
  if (text.trim() === '') return required ? { problem: t('problem.required') } : { value: 0 };
  const amount = parsePrice(text);
  if (amount !== null) return { value: amount };
  const negative = /^\s*[-−]/.test(text);
  return { problem: negative ? t('problem.minimum', { minimum: 0 }) : numberProblem(true) };
}

function judgeInteger(text: string, { required, minimum = 0, maximum }: AttributeSchema): Judged {
  const trimmed = text.trim();
  if (trimmed === '') return required ? { problem: t('problem.required') } : { value: minimum };
  const negative = /^[-−]/.test(trimmed);
  const size = parseWhole(negative ? trimmed.slice(1) : trimmed);
  if (size === null) {
    return { problem: /^\d+$/.test(trimmed) ? t('problem.maximum') : numberProblem(false) };
  }
  const value = negative ? -size : size;
  if (value < minimum) return { problem: t('problem.minimum', { minimum }) };
  return value > (maximum ?? Number.MAX_SAFE_INTEGER)
    ? { problem: t('problem.maximum') }
    : { value };
}

/** White space at the ends of a line is of no use, and comes with what is pasted. */
function judgeText(typed: string, { kind, schema }: FormField): Judged {
  const text = kind === 'text' ? typed.trim() : typed;
  const { required, minLength = 0, maxLength, type } = schema;
  const nullable = type.includes('null') && typeof type !== 'string';
  if (text === '' && nullable) return { value: null };
  if (text === '' && required && kind === 'date') return { problem: t('problem.required') };
  if (minLength > 0 && !/\P{White_Space}/u.test(text)) return { problem: t('problem.blank') };
  if (maxLength !== undefined && codePoints(text, maxLength) > maxLength) {
    return { problem: t('problem.maxLength', { count: maxLength }) };
  }
  if (kind === 'date' && !isDate(text)) return { problem: t('problem.date') };
  return { value: text };
}

/** How long a text is as the server counts. */
function codePoints(text: string, limit: number): number {
  return text.length <= limit ? text.length : Array.from(text).length;
}

function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || text.startsWith('0000')) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}
