/** The words of a declaration: one for each role of an attribute. */
import type {
  AssignedAttribute,
  DocumentAttribute,
  IdAttribute,
  InternalAttribute,
  JoinedAttribute,
  KindName,
  WrittenAttribute,
} from './kind.ts';
import type { ValueSchema } from './schemas.ts';
import { identifier } from './schemas.ts';

export const id: IdAttribute = { role: 'id' };

export function written(
  schema: ValueSchema,
  more: Omit<WrittenAttribute, 'role' | 'schema'> = {},
): WrittenAttribute {
  return { role: 'written', schema, ...more };
}

export const reference = (
  references: KindName,
  more: Omit<WrittenAttribute, 'role' | 'schema' | 'references'> = {},
) => written(identifier, { references, ...more });

export const assigned = (
  initial: string | number,
  more: Omit<AssignedAttribute, 'role' | 'initial'> = {},
): AssignedAttribute => ({ role: 'assigned', initial, ...more });

export const joined = (through: string, attribute: string): JoinedAttribute => ({
  role: 'joined',
  through,
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
  open: false,
  adminOnly: false,
  readOnly: false,
  audited: true,
  bulk: true,
  structural: [],
  rules: [],
  nestings: [],
  emptyNotFound: false,
  unpaged: false,
  refusalIsValidation: false,
} as const;
