/** The vocabulary in which kinds.ts declares the collections. */
import type { ValueSchema } from './schemas.ts';

export type Scalar = string | number | boolean | null;

/**
 * A stored row of any kind; rows.ts has the types of the rows of each kind. Rows are immutable, so
 * that a snapshot is a copy of references.
 */
export interface Row {
  readonly id: number;
  readonly [attribute: string]: Scalar;
}

/**
 * Tables of the store. `sku_specs` holds the specification records of SKUs, `idempotency_keys` the
 * answers to requests that may be sent again, `audits` who wrote what under `/admin/`, `webhooks`
 * where changes are delivered.
 */
export const KIND_NAMES = [
  'books',
  'brands',
  'categories',
  'goods',
  'specs',
  'options',
  'skus',
  'sku_specs',
  'idempotency_keys',
  'audits',
  'webhooks',
] as const;

export type KindName = (typeof KIND_NAMES)[number];

/** Given by the client and stored. */
export interface InputAttribute {
  readonly role: 'input';
  readonly schema: ValueSchema;
  /** What stored rows may hold, if an older version took more than `schema` does. */
  readonly stored?: ValueSchema;
  /** What POST and PUT store when the client leaves it out; without it the attribute is required. */
  readonly default?: Scalar;
  /** The request's word where it is not the response's (spec 1.9: spu_id for goods_id). */
  readonly request?: string;
  /** The kind whose id it holds. */
  readonly references?: KindName;
  /** Rows go with the row they refer to, in the same commit; otherwise they forbid its deletion. */
  readonly cascade?: boolean;
  /** No two rows have the same value, unless it is null (spec 2.9). */
  readonly unique?: true;
  /** A collection can be filtered by it, by a parameter of the same name. */
  readonly filter?: 'text' | 'id';
  /** Clients send and see a list; rows keep its JSON text, which the schema makes. */
  readonly isList?: true;
  /** A sentence for the documents. */
  readonly meaning?: string;
  /** Where the path gives the value: neither read from the body nor shown in the object. */
  readonly fromPath?: boolean;
  /** A text that a search reads (spec 4.7). */
  readonly searched?: true;
  /** A collection can be filtered by a range of its values, or by true and false (spec 4.8). */
  readonly range?: 'number' | 'flag';
}

/** Stored, set by the service alone. */
export interface ServerSetAttribute {
  readonly role: 'serverSet';
  readonly initial: Scalar;
  /** What it holds at any time; without it any value of the type of `initial`. */
  readonly schema?: ValueSchema;
  /** A collection can be filtered by it, by a parameter of the same name. */
  readonly filter?: 'text' | 'id';
  /** A text that a search reads (spec 4.7). */
  readonly searched?: true;
  /** A collection can be filtered by a period, with `since` and `until` (spec 4.8). */
  readonly range?: 'period';
  /** A sentence for the documents. */
  readonly meaning?: string;
}

/** A JSON object, set by the service alone: stored as its text, or null where there is none. */
interface DocumentAttribute {
  readonly role: 'document';
  readonly schema: ValueSchema;
  readonly meaning: string;
}

/** Stored for the service itself: no object shows it. */
interface InternalAttribute {
  readonly role: 'internal';
  readonly schema: ValueSchema;
  /** Rows that an earlier version wrote do not have it. */
  readonly isNew?: boolean;
}

/** Read-only: an attribute of the row that `through` refers to. Not stored here. */
export interface LookupAttribute {
  readonly role: 'lookup';
  readonly foreignKey: string;
  readonly attribute: string;
}

/** Rows of another kind that belong to this one; a write adds one for each element sent. */
export interface ChildrenAttribute {
  readonly role: 'children';
  readonly kind: KindName;
  /** The attribute of the owned kind that refers to the owner. */
  readonly foreignKey: string;
}

interface IdAttribute {
  readonly role: 'id';
}

export type Attribute =
  | IdAttribute
  | InputAttribute
  | ServerSetAttribute
  | DocumentAttribute
  | InternalAttribute
  | LookupAttribute
  | ChildrenAttribute;

/** `/admin/<parent>/<pk>/<segment>/`, the same as the collection filtered by `through`. */
export interface Nesting {
  readonly parent: KindName;
  readonly segment: string;
  readonly foreignKey: string;
  /** Takes POST, and DELETE of its items (spec 1.4: the specification records of a SKU). */
  readonly writable: boolean;
}

/**
 * What a bounded table counts of a row: the UTF-8 bytes of texts, and a number for the rest. Such a
 * table keeps its newest rows alone (src/store/bounded.ts).
 */
export interface Weight {
  readonly texts: readonly string[];
  readonly rest: number;
}

/** One collection: everything that the generic handler needs to know of it. */
export interface Kind<K extends KindName = KindName> {
  readonly name: K;
  /** "SKU": as messages and documents call one. */
  readonly label: string;
  /** "SKUs". */
  readonly plural: string;
  /** `/admin/skus/`; null where rows are reached through their owner alone. */
  readonly path: string | null;
  /** No token asked (spec 6.1). */
  readonly public: boolean;
  /** Only the role `admin` may read it. */
  readonly adminOnly: boolean;
  /** Clients read it alone; the service writes it. */
  readonly readOnly: boolean;
  /** Writes of its rows are told in the audit trail. */
  readonly audited: boolean;
  /** The index names its collection (spec 5.7). */
  readonly listed: boolean;
  /** Its changes are in the change feed (spec 14.1). */
  readonly published: boolean;
  /** What its rows weigh where the oldest make room for the newest. */
  readonly weight?: Weight;
  /** The attribute that divides a bounded table into shelves, each with its own bound. */
  readonly shelf?: string;
  /** POST and PATCH of the collection take an array of objects, all or none. */
  readonly bulk: boolean;
  /** In the order of the object. */
  readonly attributes: Readonly<Record<string, Attribute>>;
  /** The attribute that `?keyword=` compares. */
  readonly keyword?: string;
  /** Attributes on which the rules of rows that refer to this one rely. */
  readonly constrains: readonly string[];
  readonly nestings: readonly Nesting[];
  /** A 404 is `{}` (spec 3.6), and a deleted item is a 404 like any other. */
  readonly emptyNotFound: boolean;
  /** Without a paging parameter the whole collection (spec 4.2). */
  readonly unpaged: boolean;
  /** A write that the disk refuses is a validation error (spec 3.9). */
  readonly refusalIsValidation: boolean;
}

const STORED: ReadonlySet<Attribute['role']> = new Set([
  'id',
  'input',
  'serverSet',
  'document',
  'internal',
]);

/** The attributes of a kind that rows keep in the store. */
export function isStored({ role }: Attribute): boolean {
  return STORED.has(role);
}

/** Whether clients write rows of a kind: by its own path, or by that of a nesting. */
export function isWritable({ readOnly }: Kind, nesting: Nesting | null): boolean {
  return nesting === null ? !readOnly : nesting.writable;
}
