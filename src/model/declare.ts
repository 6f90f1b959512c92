/**
 * The functions that declare attributes, one for each role. Each keeps the exact types of its
 * arguments, so that the types of rows can be derived from the declarations (see rows.ts).
 */
import type { KindName, InputAttribute, ServerSetAttribute } from './kind.ts';
import type { ValueSchema } from './schemas.ts';
import { identifier } from './schemas.ts';

type InputOptions = Omit<InputAttribute, 'role' | 'schema'>;
type ServerSetOptions = Omit<ServerSetAttribute, 'role' | 'initial'>;

export const id = { role: 'id' } as const;

/** An attribute that clients send, and that rows store as the schema produces it. */
export function input<const S extends ValueSchema, const O extends InputOptions = object>(
  schema: S,
  options?: O,
) {
  return Object.assign({ role: 'input', schema } as const, options);
}

/** An attribute that holds the id of a row of another kind, which must exist. */
export function reference<const N extends KindName, const O extends InputOptions = object>(
  references: N,
  options?: O,
) {
  return Object.assign(input(identifier, { references }), options);
}

/**
 * An attribute that only the service sets.
 *
 * @param initial the value in a new row; its type is that of the attribute.
 */
export function serverSet<
  const I extends ServerSetAttribute['initial'],
  const O extends ServerSetOptions = object,
>(initial: I, options?: O) {
  return Object.assign({ role: 'serverSet', initial } as const, options);
}

/**
 * An attribute of objects that rows do not store: it is read from the row to which a reference
 * leads.
 *
 * @param foreignKey the attribute of this kind that holds the reference.
 * @param attribute of the other kind.
 */
export const lookup = (foreignKey: string, attribute: string) =>
  ({ role: 'lookup', foreignKey, attribute }) as const;

/**
 * A JSON object that only the service sets; clients may read it, and rows store its text.
 *
 * @param meaning a sentence for the documents.
 */
export const document = <const S extends ValueSchema>(schema: S, meaning: string) =>
  ({ role: 'document', schema, meaning }) as const;

/**
 * An attribute that clients never see.
 *
 * @param isNew whether rows that an earlier version wrote do not have it.
 */
export const internal = <const S extends ValueSchema>(schema: S, isNew = false) =>
  ({ role: 'internal', schema, isNew }) as const;

/** The members of a declaration that are the same for most collections. */
export const DEFAULTS = {
  public: false,
  adminOnly: false,
  readOnly: false,
  audited: true,
  listed: true,
  published: true,
  bulk: true,
  constrains: [],
  nestings: [],
  emptyNotFound: false,
  unpaged: false,
  refusalIsValidation: false,
} as const;
