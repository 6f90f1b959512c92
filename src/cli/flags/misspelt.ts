/** Variables that are almost those of a command, and have no effect. */
import type { Command } from 'commander';
import { nearest } from '../../resources/query/nearest.ts';
import { Flag } from './flag.ts';

const PREFIX = 'CATALOG_';

/** More edits than these make another word: Kubernetes sets `CATALOG_SERVICE_HOST`, for example. */
const MAX_EDITS = 2;

/**
 * Finds the variables that the operator has probably misspelt. Others that are not known may belong
 * to other commands or programs.
 *
 * @returns a message for each of them.
 */
export function misspeltVariables(
  command: Command,
  env: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const flags = command.options.filter((option) => option instanceof Flag);
  const known = new Set([...flags.map(({ variable }) => variable), 'CATALOG_JWT_SECRET']);
  return Object.keys(env).flatMap((name) => {
    if (!name.startsWith(PREFIX) || known.has(name)) return [];
    const edits = Math.min(MAX_EDITS, Math.floor((name.length - PREFIX.length) / 3));
    const meant = nearest(name, known, edits);
    return meant === null
      ? []
      : [`the variable ${name} has no effect; if you mean ${meant}, correct its name and restart`];
  });
}
