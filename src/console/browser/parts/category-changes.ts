/** Keeps the tree of categories up to date with what this tab writes. */
import { readCategories } from '../api/references.ts';
import { complain } from './notices.tsx';

/**
 * Reads the tree again if one of the collections that were written is that of the categories. It is
 * not waited for, and its failure is not that of the write, which is done.
 *
 * @param written names of collections, or of other resources of the audit trail.
 */
export function followCategories(...written: readonly string[]): void {
  if (written.includes('categories')) readCategories().catch(complain);
}
