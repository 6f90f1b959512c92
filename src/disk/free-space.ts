/** How much a file system can still take. */
import fsp from 'node:fs/promises';

/**
 * @param path of anything on the file system.
 * @returns bytes that a process without privileges may still write.
 * @throws what the system says if it cannot tell.
 */
export async function freeSpace(path: string): Promise<number> {
  const { bavail, bsize } = await fsp.statfs(path);
  return bavail * bsize;
}
