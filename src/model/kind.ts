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
 * The tables whose changes are published, under their names there; `sku_specs` holds the
 * specification records of SKUs.
 */
export const RESOURCES = [
  'books',
  'brands',
  'categories',
  'goods',
  'specs',
  'options',
  'skus',
  'sku_specs',
] as const;

/**
 * Tables of the store. `idempotency_keys` holds the responses to requests that clients may retry,
 * `audits` who wrote what under `/admin/`, `webhooks` where changes are delivered.
 */
export const KIND_NAMES = [...RESOURCES, 'idempotency_keys', 'audits', 'webhooks'] as const;

export type KindName = (typeof KIND_NAMES)[number];

/** Given by the client and stored. */
export interface InputAttribute {
  readonly role: 'input';
  readonly schema: ValueSchema;
  /** What stored rows may hold, if an older version accepted more than `schema` does. */
  readonly stored?: ValueSchema;
  /** What POST and PUT store if the client leaves it out; without a default it is required. */
  readonly default?: Scalar;
  /** Its name in requests, if responses use another one (spec 1.9: spu_id for goods_id). */
  readonly request?: string;
  /** The kind whose id it holds. */
  readonly references?: KindName;
  /** The column of CSV with the name of the row that it refers to, if no `lookup` shows that. */
  readonly nameColumn?: string;
  /** The attributes that refer to the rows above that row, from the first level. */
  readonly ancestors?: readonly string[];
  /** Rows are deleted with the row they refer to, in one commit. Otherwise they prevent that. */
  readonly cascade?: boolean;
  /** No two rows have the same value, unless it is null (spec 2.9). */
  readonly unique?: true;
  /** A collection can be filtered by it, by a parameter of the same name. */
  readonly filter?: 'text' | 'id';
  /** Clients send and receive a list; rows keep its JSON text, which the schema produces. */
  readonly isList?: true;
  /** A sentence for the documents. */
  readonly meaning?: string;
  /** The path gives the value: it is neither read from the body nor shown in the object. */
  readonly fromPath?: boolean;
  /** Searches look at it (spec 4.7). */
  readonly searched?: true;
  /** A collection can be filtered by a range of its values, or by true and false (spec 4.8). */
  readonly range?: 'number' | 'flag';
}

/** Stored, and set only by the service. */
export interface ServerSetAttribute {
  readonly role: 'serverSet';
  readonly initial: Scalar;
  /** The values that it may hold; by default any value of the type of `initial`. */
  readonly schema?: ValueSchema;
  /** A collection can be filtered by it, by a parameter of the same name. */
  readonly filter?: 'text' | 'id';
  /** Searches look at it (spec 4.7). */
  readonly searched?: true;
  /** A collection can be filtered by a period, with `since` and `until` (spec 4.8). */
  readonly range?: 'period';
  /** A sentence for the documents. */
  readonly meaning?: string;
}

/** A JSON object that only the service sets. Stored as its text; null if there is no object. */
interface DocumentAttribute {
  readonly role: 'document';
  readonly schema: ValueSchema;
  readonly meaning: string;
}

/** Stored for the service itself; clients never see it. */
interface InternalAttribute {
  readonly role: 'internal';
  readonly schema: ValueSchema;
  /** Rows that an earlier version wrote do not have it. */
  readonly isNew?: boolean;
}

/** Read-only: an attribute of the row that `foreignKey` refers to. Not stored here. */
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
  /** Rows that one owner may have, at most: every request about it reads them. */
  readonly most: number;
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

/** `/admin/<parent>/<pk>/<segment>/`, the same as the collection filtered by `foreignKey`. */
export interface Nesting {
  readonly parent: KindName;
  readonly segment: string;
  readonly foreignKey: string;
  /** It accepts POST, and DELETE of its items (spec 1.4: the specification records of a SKU). */
  readonly writable: boolean;
}

/**
 * How much a row counts in a bounded table: the UTF-8 bytes of some texts, plus a constant for the
 * rest. Such a table keeps only its newest rows (src/store/bounded.ts).
 */
export interface Weight {
  readonly texts: readonly string[];
  readonly rest: number;
}

/** How the cells of a file name a row (spec 12.3, 12.9). */
export interface Naming {
  /** The attribute that holds the name. */
  readonly attribute: string;
  /** The reference to the row within which the name counts: each SPU has its own "Colour". */
  readonly within?: string;
  /** A row can be created from its name and the row that it is within. */
  readonly creatable?: true;
}

/** One collection: everything that the generic handler needs to know about it. */
export interface Kind<K extends KindName = KindName> {
  readonly name: K;
  /** "SKU": the name of one row in messages and documents. */
  readonly label: string;
  /** "SKUs". */
  readonly plural: string;
  /** `/admin/skus/`; null if rows are reached only through their owner. */
  readonly path: string | null;
  /** No token is required (spec 6.1). */
  readonly public: boolean;
  /** Only the role `admin` may read it. */
  readonly adminOnly: boolean;
  /** Clients can only read it; the service writes it. */
  readonly readOnly: boolean;
  /** Writes of its rows are recorded in the audit trail. */
  readonly audited: boolean;
  /** The index lists its collection (spec 5.7). */
  readonly listed: boolean;
  /** Its changes are in the change feed (spec 14.1). */
  readonly published: boolean;
  /** How much its rows count, if its table is bounded. */
  readonly weight?: Weight;
  /** The attribute that divides a bounded table into shelves, each with its own bound. */
  readonly shelf?: string;
  /** It has `bulk/`, `export/` and `imports/` below its path (spec 9.1, 12.1). */
  readonly bulk: boolean;
  /** In the order in which objects show them. */
  readonly attributes: Readonly<Record<string, Attribute>>;
  /** The attribute with which `?keyword=` is compared. */
  readonly keyword?: string;
  /** Absent if cells do not name its rows. */
  readonly naming?: Naming;
  /** Attributes on which the rules of referring rows depend. */
  readonly constrains: readonly string[];
  readonly nestings: readonly Nesting[];
  /** The body of a 404 is `{}` (spec 3.6), and a deleted item is answered with 404, not 410. */
  readonly emptyNotFound: boolean;
  /** Without a paging parameter, a list has the whole collection (spec 4.2). */
  readonly unpaged: boolean;
  /** A write that the disk refuses is reported as a validation error (spec 3.9). */
  readonly refusalIsValidation: boolean;
}

const STORED: ReadonlySet<Attribute['role']> = new Set([
  'id',
  'input',
  'serverSet',
  'document',
  'internal',
]);

/** Whether rows keep an attribute in the store. */
export function isStored({ role }: Attribute): boolean {
  return STORED.has(role);
}

/** Whether clients may write rows of a kind: at its own path, or at that of a nesting. */
export function isWritable({ readOnly }: Kind, nesting: Nesting | null): boolean {
  return nesting === null ? !readOnly : nesting.writable;
}
