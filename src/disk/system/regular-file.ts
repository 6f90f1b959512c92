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
  if (isReadable(fs.fstatSync(fd))) return fd;
  fs.closeSync(fd);
  throw notRegular(path);
}

/** {@link openRegular} without blocking the event loop. */
export async function openRegularLater(path: string): Promise<fsp.FileHandle> {
  const file = await fsp.open(path, READ);
  if (isReadable(await file.stat())) return file;
  await file.close();
  throw notRegular(path);
}

function isReadable(stats: fs.Stats): boolean {
  return stats.isFile() || stats.isDirectory();
}

function notRegular(path: string): Error {
  const message = `EFTYPE: a pipe or a device, open '${path}'`;
  return Object.assign(new Error(message), { code: 'EFTYPE', path });
}
