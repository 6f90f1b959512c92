/** An import as the user has planned it. */
import type { CollectionName } from '../api/types.ts';
import type { ImportFile, Mapping } from './file.ts';

/** What is chosen in the first step. */
export interface Chosen {
  readonly collection: CollectionName;
  readonly match: string;
  readonly createMissing: readonly string[];
  readonly file: ImportFile;
}

export interface Plan extends Chosen {
  /** Columns that the server takes. */
  readonly columns: readonly string[];
  readonly mapping: Mapping;
  /** Whether the first record of the file is a row, and not the names of its columns. */
  readonly headless: boolean;
}

/** How rows are found: by codes rather than by ids if the columns have only these. */
export function matchOf({ match, mapping }: Pick<Plan, 'match' | 'mapping'>): string {
  const hasOnlyCodes = mapping.includes('code') && !mapping.includes('id');
  return match === 'id' && hasOnlyCodes ? 'code' : match;
}
