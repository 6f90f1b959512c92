/**
 * Files opened for reading that have to be regular ones. The opening of a pipe waits until another
 * process writes to it, and a device may have no end; both would stop the program without a word.
 */
import fs from 'node:fs';
import fsp from 'node:fs/promises';

// For a regular file the second flag has no effect; with it, a pipe is opened at once.
const READ = fs.constants.O_RDONLY | fs.constants.O_NONBLOCK;

/**
 * @returns the descriptor; that of a directory as well, whose reading fails with `EISDIR`.
 * @throws what the file system throws; an error with the code `EFTYPE` for a pipe or a device.
 */
export function openRegular(path: string): number {
  const fd = fs.openSync(path, READ);
  try {
    requireReadable(path, fs.fstatSync(fd));
  } catch (error) {
    fs.closeSync(fd);
    throw error;
  }
  return fd;
}

/** {@link openRegular} without blocking the event loop. */
export async function openRegularLater(path: string): Promise<fsp.FileHandle> {
  const file = await fsp.open(path, READ);
  try {
    requireReadable(path, await file.stat());
  } catch (error) {
    // If the runtime finds a file that nobody has closed, the process ends.
    await file.close();
    throw error;
  }
  return file;
}

function requireReadable(path: string, stats: fs.Stats): void {
  if (stats.isFile() || stats.isDirectory()) return;
  const message = `EFTYPE: a pipe or a device, open '${path}'`;
  throw Object.assign(new Error(message), { code: 'EFTYPE', path });
}
