/** Directories that are placed apart on the device: attribute T of chattr(1), which ext4 has. */
import fs from 'node:fs';
import { libcOfLinux } from './libc.ts';

/** From ioctl_iflags(2); the numbers are those of machines of 64 bits. */
const FS_IOC_GETFLAGS = 0x80086601;
const FS_IOC_SETFLAGS = 0x40086602;
const FS_TOPDIR_FL = 0x00020000;

/** Without it the file system places directories as it does by default. */
const symbols = libcOfLinux({ ioctl: { args: ['i32', 'usize', 'ptr'], returns: 'i32' } });

/**
 * Makes the file system place new subdirectories of a directory where there is most room, rather
 * than near it. The attribute is permanent, and costs nothing.
 *
 * @returns whether the file system does so; if not, nothing has changed.
 * @throws what the disk throws if the directory cannot be opened.
 */
export function spread(directory: string): boolean {
  const control = symbols()?.ioctl;
  if (control === undefined) return false;
  const fd = fs.openSync(directory, fs.constants.O_RDONLY | fs.constants.O_DIRECTORY);
  try {
    const flags = new Int32Array(1);
    if (control(fd, FS_IOC_GETFLAGS, flags) !== 0) return false;
    const before = flags[0] ?? 0;
    if ((before & FS_TOPDIR_FL) !== 0) return true;
    flags[0] = before | FS_TOPDIR_FL;
    return control(fd, FS_IOC_SETFLAGS, flags) === 0;
  } finally {
    fs.closeSync(fd);
  }
}
