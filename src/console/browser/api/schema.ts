/** What the server says of the attributes that a client may send: OPTIONS of a collection. */
import { receive } from './client.ts';
import { collectionOf } from './collections.ts';
import type { CollectionName, Value } from './types.ts';

export interface AttributeSchema {
  readonly type: string | readonly string[];
  readonly required: boolean;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly format?: string;
  readonly default?: Value;
}

export type Schema = Readonly<Record<string, AttributeSchema>>;

const known = new Map<CollectionName, Promise<Schema>>();

/** @throws ApiError, TypeError; the next call asks again. */
export function schemaOf(name: CollectionName): Promise<Schema> {
  let schema = known.get(name);
  if (schema === undefined) {
    schema = receive<{ attributes: Schema }>(collectionOf(name).path, { method: 'OPTIONS' }).then(
      ({ attributes }) => attributes,
    );
    schema.catch(() => known.delete(name));
    known.set(name, schema);
  }
  return schema;
}

export type FieldKind =
  | 'text'
  | 'long text'
  | 'integer'
  | 'price'
  | 'flag'
  | 'date'
  | 'reference'
  | 'specs';

/** Texts of more characters than this are edited as rich text. */
const LONG_TEXT = 1000;

const PRICES = new Set(['price', 'cost_price', 'market_price']);

/** How an attribute is edited. */
export function fieldKindOf(
  name: CollectionName,
  attribute: string,
  schema: AttributeSchema,
): FieldKind {
  const types = typeof schema.type === 'string' ? [schema.type] : schema.type;
  if (attribute in collectionOf(name).references) return 'reference';
  if (types.includes('array')) return 'specs';
  if (types.includes('boolean')) return 'flag';
  if (types.includes('integer')) return PRICES.has(attribute) ? 'price' : 'integer';
  if (schema.format === 'date') return 'date';
  return (schema.maxLength ?? 0) > LONG_TEXT ? 'long text' : 'text';
}

/** Whether values of an attribute are amounts, in the smallest unit of the currency. */
export function isPrice(attribute: string): boolean {
  return PRICES.has(attribute);
}
