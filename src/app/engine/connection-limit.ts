/**
 * How many connections the process can take. Without a free descriptor the runtime tries to accept a
 * waiting connection again and again, which takes a whole processor, and the store cannot open its
 * files. So the limit of connections leaves descriptors for everything else.
 */

/** Descriptors for files, refused connections, and connections to other machines. */
const RESERVED = 512;

/**
 * @param wanted connections (`--max-connections`).
 * @param openFiles that the process may have; see maxOpenFiles.
 * @returns the connections that fit: at least a quarter of the descriptors if there are few.
 */
export function connectionLimit(wanted: number, openFiles: number): number {
  const fitting = Math.max(openFiles - RESERVED, Math.floor(openFiles / 4));
  return Math.min(wanted, fitting);
}
