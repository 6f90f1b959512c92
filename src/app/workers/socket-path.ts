/** The socket on which the owner of a data directory takes the requests that workers pass on. */
import { join } from 'node:path';
import { DATA_FILES } from '../../data-files.ts';
import { CatalogError } from '../../errors.ts';

/** Bytes of the path of a socket: 104 with the zero at its end on macOS, 108 on Linux. */
const MAX_BYTES = 103;

/** @throws CatalogError `usage` if the path of the directory is too long. */
export function socketPath(directory: string): string {
  const path = join(directory, DATA_FILES.workersSocket);
  if (Buffer.byteLength(path) <= MAX_BYTES) return path;
  throw new CatalogError(
    'usage',
    `--workers needs a socket in the data directory, but its path ${path} is longer than ${MAX_BYTES} bytes; give a shorter --data, such as a relative path`,
  );
}
