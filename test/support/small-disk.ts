/** File systems of a test's own, if the machine lets it mount them: full, or read-only. */
import { spawnSync } from 'node:child_process';
import fs, { copyFileSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { temporaryDirectory } from './directory.ts';

/** Where something is mounted, once for each mount. */
const mounted: string[] = [];
// Before the directories themselves are removed.
process.prependListener('exit', unmountAll);

function mount(directory: string, ...args: readonly string[]): void {
  command('mount', ...args, directory);
  mounted.push(directory);
}

function unmount(directory: string, ...args: readonly string[]): void {
  command('umount', ...args, directory);
  mounted.splice(mounted.lastIndexOf(directory), 1);
}

/** Unmounts everything that a test has mounted. */
export function unmountAll(): void {
  for (const directory of [...mounted].reverse()) unmount(directory, '-l');
}

/** @throws if it ends with a status other than 0. */
function command(file: string, ...args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(file, args, { encoding: 'utf8' });
  if (status === 0) return stdout.trim();
  throw new Error(`${file} ${args.join(' ')}: ${error?.message ?? stderr}`);
}

/** A small file system in memory. */
export class SmallDisk {
  readonly directory = temporaryDirectory();
  readonly #filler = join(this.directory, 'filler');

  /** @param options of tmpfs, such as `size=1m`. */
  constructor(options: string) {
    mount(this.directory, '-t', 'tmpfs', '-o', options, 'tmpfs');
  }

  /** Takes all the room. @param but bytes that stay free, in whole blocks of 4 KiB. */
  fill(but = 0): void {
    // The write that finds no room leaves a file that has taken all of it.
    const fd = fs.openSync(this.#filler, 'w');
    try {
      for (;;) fs.writeSync(fd, Buffer.alloc(4096));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    } finally {
      fs.closeSync(fd);
    }
    truncateSync(this.#filler, fs.statSync(this.#filler).size - but);
  }

  /** Takes all the names that the file system can give: there is room, but for no more files. */
  fillWithNames(): void {
    fs.mkdirSync(this.#filler);
    for (let nth = 1; ; nth += 1) {
      try {
        writeFileSync(join(this.#filler, `${nth}`), '');
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
        return;
      }
    }
  }

  /** Gives the room back. */
  empty(): void {
    rmSync(this.#filler, { recursive: true });
  }
}

/**
 * Makes a directory read-only for every look-up of a path. The kernel refuses to remount a file
 * system while a process has a file of it open for writing, as a server has; so a second mount of
 * the same directory, which is read-only, is laid over it.
 *
 * @returns a function that undoes it.
 */
export function readOnly(directory: string): () => void {
  mount(directory, '--bind', directory);
  command('mount', '-o', 'remount,bind,ro', directory);
  return () => unmount(directory, '-l');
}

/** A file system on a device, which turns read-only when it finds an error on the device. */
export class FailingDisk {
  readonly directory = temporaryDirectory();
  #image = join(temporaryDirectory(), 'image');

  constructor() {
    writeFileSync(this.#image, '');
    truncateSync(this.#image, 16 * 1024 * 1024);
    command('mkfs.ext4', '-q', this.#image);
    this.#mount();
  }

  #mount(): void {
    mount(this.directory, '-o', 'loop,errors=remount-ro', this.#image);
  }

  /** The file system finds an error. */
  fail(): void {
    const device = basename(command('findmnt', '-n', '-o', 'SOURCE', this.directory));
    writeFileSync(`/sys/fs/ext4/${device}/trigger_fs_error`, 'test');
  }

  /**
   * Repairs the file system as an operator does: e2fsck, then a new mount. It is a copy that is
   * mounted: as long as another process's mount namespace holds the old file system, the kernel
   * would give that one again, which stays read-only.
   */
  repair(): void {
    this.unmount();
    const image = `${this.#image}-repaired`;
    copyFileSync(this.#image, image);
    this.#image = image;
    command('sh', '-c', 'e2fsck -fy "$1" >/dev/null || [ $? = 1 ]', 'e2fsck', image);
    this.#mount();
  }

  unmount(): void {
    unmount(this.directory);
  }
}

/** A file system on a device that loses power: what its device holds then is another file system. */
export class CutDisk {
  readonly directory = temporaryDirectory();
  readonly #image: string;

  /** @param image of a device with a file system. */
  private constructor(image: string) {
    this.#image = image;
    // What nobody syncs is to stay in memory: the file system writes by itself after five seconds.
    mount(this.directory, '-o', 'loop,commit=300', image);
  }

  /** An empty one. @param mebibytes that it has room for. */
  static make(mebibytes = 64): CutDisk {
    const image = join(temporaryDirectory(), 'image');
    writeFileSync(image, '');
    truncateSync(image, mebibytes * 1024 * 1024);
    command('mkfs.ext4', '-q', image);
    return new CutDisk(image);
  }

  /**
   * Cuts the power at this moment, for a copy. Nothing may write while it is made.
   *
   * @returns what the device holds, its journal replayed.
   */
  cut(): CutDisk {
    const image = join(temporaryDirectory(), 'image');
    command('cp', '--sparse=always', this.#image, image);
    return new CutDisk(image);
  }

  /** Ends it, with its device. */
  remove(): void {
    unmount(this.directory);
    rmSync(this.#image);
  }
}

/** Whether the machine lets us do all that `attempt` does. */
function possible(attempt: () => void): boolean {
  try {
    attempt();
    return true;
  } catch {
    return false;
  }
}

export const canMount = possible(() => {
  const disk = new SmallDisk('size=1m');
  readOnly(disk.directory)();
  unmountAll();
});

export const canMountDevices = possible(() => {
  const disk = new FailingDisk();
  disk.fail();
  disk.unmount();
});

export const canCutPower = possible(() => CutDisk.make().remove());

/** Half-written files below a directory. */
export function temporariesBelow(directory: string): string[] {
  const names = readdirSync(directory, { recursive: true }) as string[];
  return names.filter((name) => name.endsWith('.tmp'));
}
