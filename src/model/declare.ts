/** The words of a declaration: one for each role of an attribute. */
import type {
  ServerSetAttribute,
  DocumentAttribute,
  IdAttribute,
  InternalAttribute,
  LookupAttribute,
  KindName,
  InputAttribute,
} from './kind.ts';
import type { ValueSchema } from './schemas.ts';
import { identifier } from './schemas.ts';

export const id: IdAttribute = { role: 'id' };

export function input(
  schema: ValueSchema,
  more: Omit<InputAttribute, 'role' | 'schema'> = {},
): InputAttribute {
  return { role: 'input', schema, ...more };
}

export const reference = (
  references: KindName,
  more: Omit<InputAttribute, 'role' | 'schema' | 'references'> = {},
) => input(identifier, { references, ...more });

export const serverSet = (
  initial: string | number,
  more: Omit<ServerSetAttribute, 'role' | 'initial'> = {},
): ServerSetAttribute => ({ role: 'serverSet', initial, ...more });

export const lookup = (through: string, attribute: string): LookupAttribute => ({
  role: 'lookup',
  foreignKey: through,
  attribute,
});

export const document = (schema: ValueSchema, meaning: string): DocumentAttribute => ({
  role: 'document',
  schema,
  meaning,
});

export const internal = (schema: ValueSchema): InternalAttribute => ({ role: 'internal', schema });

/** What a declaration need not say. */
export const DEFAULTS = {
  public: false,
  adminOnly: false,
  readOnly: false,
  audited: true,
  bulk: true,
  constrains: [],
  rules: [],
  nestings: [],
  emptyNotFound: false,
  unpaged: false,
  refusalIsValidation: false,
} as const;
