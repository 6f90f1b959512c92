/** What the screen of accounts and its dialogs share. */
import type { Role } from '../api/types.ts';

export const ROLES: readonly Role[] = ['viewer', 'editor', 'admin'];

/** The account that a request is about. */
export function named(name: string) {
  return { path: { name } };
}

/** What came of a request: the server refused it, or the outcome is not known. */
export type Outcome = 'done' | 'refused' | 'failed';
