/**
 * The machine's disk, on which steps fail as a test demands; it does not wait for the device. Run by
 * itself it is the program with such a disk; a file, looked at before every step, says what fails:
 *
 *     REFUSE=FILE bun test/support/refusing-disk.ts serve --data DIRECTORY
 */
import fs, { renameSync, rmSync, writeFileSync } from 'node:fs';
import { type Disk, type FileStat, machineDisk, type PieceMemory } from '../../src/disk/disk.ts';
import type { MappedFile } from '../../src/disk/system/mapped-file.ts';
import { publishWith } from './disk.ts';
import { turn } from './turns.ts';

/** The steps of a disk, those of the durable write among them; `record` overwrites in place. */
export type Step = Exclude<keyof Disk, 'publish'> | 'record';

/** The code of the error with which a step fails; null if it succeeds. */
export type Refusal = (step: Step, path: string) => string | null;

/** How a disk that refuses a step says so. */
function refusalOf(code: string, step: Step, path: string): Error {
  return Object.assign(new Error(`${code}: refused, ${step} '${path}'`), { code });
}

export class RefusingDisk implements Disk {
  /** What fails; null lets everything pass. */
  refusal: Refusal | null = null;
  /** What takes effect and is reported as failed all the same: renames and links. */
  lateRefusal: Refusal | null = null;
  /** Steps that were refused, the first one first. */
  readonly refused: string[] = [];
  readonly #paths = new Map<number, string>();
  readonly #created = new Set<number>();

  /** Paths of what is open. */
  get descriptors(): readonly string[] {
    return [...this.#paths.values()];
  }

  /** @returns the paths that are synced from now on by fsync. Nothing is refused any more. */
  noteSyncs(): string[] {
    const paths: string[] = [];
    this.refusal = (step, path) => {
      if (step === 'fsync') paths.push(path);
      return null;
    };
    return paths;
  }

  prepare(): void {}

  publish: Disk['publish'] = publishWith({
    openSync: (path, flags, mode) => {
      this.#judge('create', path);
      return this.#written(fs.openSync(path, flags, mode), path);
    },
    writeSync: (fd, bytes, offset, length, position) => {
      if (typeof position === 'number') {
        this.#judge('record', this.#pathOf(fd));
        return fs.writeSync(fd, bytes, offset, length, position);
      }
      // A disk that fills up accepts a part first.
      const part = fs.writeSync(fd, bytes, offset, length / 2);
      this.#judge('write', this.#pathOf(fd));
      return part + fs.writeSync(fd, bytes, offset + part, length - part);
    },
    fdatasyncSync: (fd) => this.#judge('fdatasync', this.#pathOf(fd)),
    closeSync: (fd) => this.close(fd),
    renameSync: (from, to) => {
      this.#judge('rename', to);
      fs.renameSync(from, to);
      this.#judgeLate('rename', to);
    },
    linkSync: (from, to) => {
      this.#judge('link', to);
      fs.linkSync(from, to);
      this.#judgeLate('link', to);
    },
    statSync: (path, options) => {
      this.#judge('stat', path);
      return fs.statSync(path, options);
    },
    fsyncSync: (fd) => this.#judge('fsync', this.#pathOf(fd)),
    rmSync: (path, options) => {
      this.#judge('unlink', path);
      fs.rmSync(path, options);
    },
  });

  async writeNew(path: string, bytes: Uint8Array): Promise<void> {
    try {
      this.#judge('writeNew', path);
    } catch (error) {
      await machineDisk.writeNew(path, bytes.subarray(0, bytes.length / 2));
      throw error;
    }
    await machineDisk.writeNew(path, bytes);
  }

  async create(path: string): Promise<number> {
    this.#judge('create', path);
    return this.#written(await machineDisk.create(path), path);
  }

  open(path: string): number {
    this.#judge('open', path);
    return this.#opened(machineDisk.open(path), path);
  }

  openRecord(path: string): number {
    this.#judge('openRecord', path);
    return this.#opened(machineDisk.openRecord(path), path);
  }

  write(fd: number, bytes: Uint8Array): void {
    const half = bytes.length / 2;
    machineDisk.write(fd, bytes.subarray(0, half));
    this.#judge('write', this.#pathOf(fd));
    machineDisk.write(fd, bytes.subarray(half));
  }

  async fdatasync(fd: number): Promise<void> {
    this.#judge('fdatasync', this.#pathOf(fd));
    await turn();
  }

  async fsync(fd: number): Promise<void> {
    this.#judge('fsync', this.#pathOf(fd));
    await turn();
  }

  /**
   * As close(2) does, it releases the descriptor even if it fails; and it fails only if
   * something was written that it is late to refuse.
   */
  close(fd: number): void {
    const path = this.#pathOf(fd);
    const written = this.#created.delete(fd);
    this.#paths.delete(fd);
    machineDisk.close(fd);
    if (written) this.#judge('close', path);
  }

  async rename(from: string, to: string): Promise<void> {
    this.#judge('rename', to);
    await machineDisk.rename(from, to);
  }

  link(from: string, to: string): void {
    this.#judge('link', to);
    machineDisk.link(from, to);
  }

  async unlink(path: string): Promise<void> {
    this.#judge('unlink', path);
    await machineDisk.unlink(path);
  }

  stat(path: string): FileStat | null {
    return machineDisk.stat(path);
  }

  mkdir(path: string): void {
    this.#judge('mkdir', path);
    machineDisk.mkdir(path);
  }

  rmdir(path: string): void {
    this.#judge('rmdir', path);
    machineDisk.rmdir(path);
  }

  /** As on ext4, whatever the file system is. */
  async makeApart(path: string): Promise<boolean> {
    this.#judge('makeApart', path);
    machineDisk.mkdir(path);
    await turn();
    return true;
  }

  list(path: string): string[] {
    this.#judge('list', path);
    return machineDisk.list(path);
  }

  leadsTo(path: string, fd: number): boolean {
    return machineDisk.leadsTo(path, fd);
  }

  pieces(path: string, memory?: PieceMemory): Iterable<Buffer> | null {
    this.#judge('read', path);
    return machineDisk.pieces(path, memory);
  }

  input(path: string): Iterable<Buffer> | null {
    this.#judge('read', path);
    return machineDisk.input(path);
  }

  map(path: string): MappedFile | null {
    this.#judge('read', path);
    return machineDisk.map(path);
  }

  size(path: string): number | null {
    this.#judge('size', path);
    return machineDisk.size(path);
  }

  read(path: string): Buffer | null {
    this.#judge('read', path);
    return machineDisk.read(path);
  }

  /** @throws if the step is to fail. */
  #judge(step: Step, path: string): void {
    this.#refuse(this.refusal, step, path);
  }

  /** @throws if the step is to be reported as failed after it took effect. */
  #judgeLate(step: Step, path: string): void {
    this.#refuse(this.lateRefusal, step, path);
  }

  #refuse(refusal: Refusal | null, step: Step, path: string): void {
    const code = refusal?.(step, path) ?? null;
    if (code === null) return;
    this.refused.push(`${step} ${path}`);
    throw refusalOf(code, step, path);
  }

  #written(fd: number, path: string): number {
    this.#created.add(fd);
    return this.#opened(fd, path);
  }

  #opened(fd: number, path: string): number {
    this.#paths.set(fd, path);
    return fd;
  }

  #pathOf(fd: number): string {
    const path = this.#paths.get(fd);
    if (path === undefined) throw new Error(`descriptor ${fd} is not open`);
    return path;
  }
}

/** What the program's disk is to refuse, as the file says it. */
interface Told {
  readonly step: Step;
  /** The end of the path. */
  readonly of: string;
  readonly code: string;
}

/** Tells the program what to refuse from here on; null for nothing. */
export function tell(file: string, told: Told | null): void {
  if (told === null) {
    rmSync(file, { force: true });
    return;
  }
  // In one step, so that the program never reads half of it.
  writeFileSync(`${file}.new`, JSON.stringify(told));
  renameSync(`${file}.new`, file);
}

function toldBy(file: string): Refusal {
  return (step, path) => {
    const text = machineDisk.read(file);
    if (text === null) return null;
    const told = JSON.parse(text.toString()) as Told;
    return told.step === step && path.endsWith(told.of) ? told.code : null;
  };
}

if (import.meta.main) {
  const { run } = await import('../../src/cli/run.ts');
  const disk = new RefusingDisk();
  disk.refusal = toldBy(process.env['REFUSE'] ?? '');
  const status = await run(process.argv.slice(2), 'test', { disk });
  process.exit(status);
}
