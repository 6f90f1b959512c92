/**
 * A disk in memory that remembers what has been synced and what has not, and in which order a
 * process asked for it; power-cut.ts says what of that a power loss may leave.
 *
 * The model, as strict as POSIX lets a file system be:
 * - a file's bytes survive when a sync of the file began after they were written;
 * - a name in a directory survives if a sync of that directory began after it was made, and
 *   likewise its removal; the sync of a file says nothing of its names;
 * - a sync is not done before it returns, and it takes in nothing that came after its call.
 */
import { basename, dirname, sep } from 'node:path';
import type { Disk, FileStat } from '../../src/disk/disk.ts';
import type { Failure, Job, Steps } from '../../src/disk/publish.ts';
import { publishIn } from './disk.ts';
import { turn } from './turns.ts';

/** What one name of a directory becomes: a file or directory by its number; null for no more. */
type Naming = readonly [name: string, node: number | null];

/** One change of the disk: names of one directory at once, bytes of a file, or a sync. */
export type Change =
  | {
      readonly type: 'names';
      readonly directory: number;
      readonly names: readonly Naming[];
      /** What is new with it. */
      readonly made?: { readonly node: number; readonly type: Node['type'] };
    }
  | {
      readonly type: 'bytes';
      readonly file: number;
      readonly offset: number;
      readonly bytes: Buffer;
    }
  /** @param before changes before this one are on the device. */
  | { readonly type: 'sync'; readonly node: number; readonly before: number };

/** Bytes that are not synced, within what the file had (they replace) or after it (it grows). */
export interface Piece {
  readonly change: number;
  readonly offset: number;
  readonly bytes: Buffer;
  readonly grows: boolean;
}

export interface FileNode {
  readonly type: 'file';
  synced: Buffer;
  pending: Piece[];
  /** What processes read. */
  current: Buffer;
}

export interface DirectoryNode {
  readonly type: 'directory';
  synced: ReadonlyMap<string, number>;
  pending: { readonly change: number; readonly names: readonly Naming[] }[];
  /** What processes see. */
  current: ReadonlyMap<string, number>;
}

export type Node = FileNode | DirectoryNode;

const ROOT = 0;
const NO_BYTES = Buffer.alloc(0);

export function emptyFile(): FileNode {
  return { type: 'file', synced: NO_BYTES, pending: [], current: NO_BYTES };
}

export function directoryOf(names: ReadonlyMap<string, number> = new Map()): DirectoryNode {
  return { type: 'directory', synced: names, pending: [], current: names };
}

/** The names after some changes of them. */
export function renamed(
  names: ReadonlyMap<string, number>,
  changes: Iterable<readonly Naming[]>,
): ReadonlyMap<string, number> {
  const next = new Map(names);
  for (const change of changes) {
    for (const [name, node] of change) {
      if (node === null) next.delete(name);
      else next.set(name, node);
    }
  }
  return next;
}

/** The bytes with others at an offset; a hole reads as zeros. */
export function overwritten(content: Buffer, offset: number, bytes: Uint8Array): Buffer {
  const next = Buffer.alloc(Math.max(content.length, offset + bytes.length));
  next.set(content);
  next.set(bytes, offset);
  return next;
}

/** Files and directories, from a root that cannot be removed. */
export class Volume {
  readonly nodes: Map<number, Node>;

  constructor(nodes: Map<number, Node> = new Map([[ROOT, directoryOf()]])) {
    this.nodes = nodes;
  }

  /** The same for now; what becomes of one of them is nothing to the other. */
  copy(): Volume {
    const copied = (node: Node) => ({ ...node, pending: [...node.pending] }) as Node;
    return new Volume(new Map([...this.nodes].map(([number, node]) => [number, copied(node)])));
  }

  /** A volume that contains these files, by path, all of it synced. */
  static holding(files: Readonly<Record<string, Buffer>>): Volume {
    const volume = new Volume();
    for (const [path, bytes] of Object.entries(files)) {
      const parts = path.split('/');
      let directory = ROOT;
      for (const [index, name] of parts.entries()) {
        const names = volume.directory(directory);
        let node = names.current.get(name);
        if (node === undefined) {
          node = volume.nodes.size;
          const last = index === parts.length - 1;
          const made = { ...emptyFile(), synced: bytes, current: bytes };
          volume.nodes.set(node, last ? made : directoryOf());
          names.current = names.synced = renamed(names.synced, [[[name, node]]]);
        }
        directory = node;
      }
    }
    return volume;
  }

  directory(number: number): DirectoryNode {
    const node = this.nodes.get(number);
    if (node?.type !== 'directory') throw failure('ENOTDIR', `node ${number}`);
    return node;
  }

  file(number: number): FileNode {
    const node = this.nodes.get(number);
    if (node?.type !== 'file') throw failure('EISDIR', `node ${number}`);
    return node;
  }

  find(path: string): number | undefined {
    let found: number | undefined = ROOT;
    for (const name of path.split(sep)) {
      if (name === '') continue;
      const node: Node | undefined = found === undefined ? found : this.nodes.get(found);
      if (node?.type !== 'directory') return undefined;
      found = node.current.get(name);
    }
    return found;
  }

  /** @param number of the change in the order of all. */
  apply(change: Change, number: number): void {
    switch (change.type) {
      case 'names': {
        const { directory, names, made } = change;
        if (made !== undefined) {
          this.nodes.set(made.node, made.type === 'file' ? emptyFile() : directoryOf());
        }
        const node = this.directory(directory);
        node.pending.push({ change: number, names });
        node.current = renamed(node.current, [names]);
        break;
      }
      case 'bytes': {
        const { offset, bytes } = change;
        const file = this.file(change.file);
        const within = Math.max(Math.min(bytes.length, file.current.length - offset), 0);
        const piece = (from: number, to: number, grows: boolean) => {
          if (from === to) return;
          const part = bytes.subarray(from, to);
          file.pending.push({ change: number, offset: offset + from, bytes: part, grows });
        };
        // Replaced bytes and the length of the file are two things to a device.
        piece(0, within, false);
        piece(within, bytes.length, true);
        file.current = overwritten(file.current, offset, bytes);
        break;
      }
      case 'sync':
        settle(this.nodes.get(change.node) as Node, change.before);
    }
  }

  /** Everything on it, one line each; equal volumes have equal texts. */
  describe(): string {
    const lines: string[] = [];
    const visit = (number: number, path: string) => {
      const node = this.nodes.get(number) as Node;
      if (node.type === 'file') {
        lines.push(`${path} ${digestOf(node.current)}`);
        return;
      }
      lines.push(`${path}/`);
      for (const name of [...node.current.keys()].sort()) {
        visit(node.current.get(name) as number, `${path}/${name}`);
      }
    };
    visit(ROOT, '');
    return lines.join('\n');
  }
}

/** Makes what was pending before a change part of what is synced. */
function settle(node: Node, before: number): void {
  if (node.type === 'file') {
    for (const { change, offset, bytes } of node.pending) {
      if (change < before) node.synced = overwritten(node.synced, offset, bytes);
    }
    node.pending = node.pending.filter(({ change }) => change >= before);
  } else {
    const done = node.pending.filter(({ change }) => change < before);
    node.synced = renamed(
      node.synced,
      done.map(({ names }) => names),
    );
    node.pending = node.pending.filter(({ change }) => change >= before);
  }
}

const digests = new WeakMap<Buffer, string>();

/** Stands for the content of a file: equal contents have equal digests. */
export function digestOf(bytes: Buffer): string {
  let digest = digests.get(bytes);
  if (digest === undefined) {
    digest = `${bytes.length} ${Bun.hash(bytes)}`;
    digests.set(bytes, digest);
  }
  return digest;
}

interface PowerOptions {
  /** Syncs that say that they are done and do nothing, by what is synced. */
  readonly forgets?: (path: string) => boolean;
  /** Whether a file may have a second name. */
  readonly links?: boolean;
  /** Whether directories can be put apart, as ext4 does; otherwise a commit makes none for itself. */
  readonly spreads?: boolean;
}

interface Opened {
  readonly node: number;
  readonly path: string;
  readonly writable: boolean;
}

export class PowerDisk implements Disk {
  /** Every change so far, in order. */
  readonly log: Change[] = [];
  /** What a process sees now. */
  readonly volume: Volume;
  readonly root: string;
  readonly #origin: Volume;
  readonly #options: PowerOptions;
  readonly #opened = new Map<number, Opened>();
  #nextNode: number;
  #nextFd = 1000;

  /**
   * @param root directory that is there from the beginning; all paths are in it.
   * @param origin what is on the disk to begin with.
   */
  constructor(root: string, origin = new Volume(), options: PowerOptions = {}) {
    this.root = root;
    this.#origin = origin.copy();
    this.#options = options;
    this.volume = origin.copy();
    this.#nextNode = Math.max(...origin.nodes.keys()) + 1;
  }

  prepare(): void {}

  /** Paths of what is open. */
  get descriptors(): readonly string[] {
    return [...this.#opened.values()].map(({ path }) => path);
  }

  /** The disk at one moment: after the first `length` changes, as it is synced and as it is seen. */
  *moments(from = 0): Generator<readonly [length: number, volume: Volume]> {
    const volume = this.#origin.copy();
    for (let length = 0; ; length += 1) {
      if (length >= from) yield [length, volume];
      const change = this.log[length];
      if (change === undefined) return;
      volume.apply(change, length);
    }
  }

  /**
   * Whether a moment is in the middle of the writing of one file. What a power loss may leave then,
   * it may leave at the end of the writing as well, with bytes cut off anywhere.
   */
  midway(length: number): boolean {
    const [before, after] = [this.log[length - 1], this.log[length]];
    return before?.type === 'bytes' && after?.type === 'bytes' && before.file === after.file;
  }

  /** The same disk, unsynced changes and all, as a process finds it that follows a killed one. */
  killedAt(length: number): PowerDisk {
    const disk = new PowerDisk(this.root, this.#origin, this.#options);
    for (const change of this.log.slice(0, length)) disk.#make(change);
    disk.#nextNode = this.#nextNode;
    return disk;
  }

  /** The steps of the durable write. */
  readonly steps: Steps = {
    openSync: (path) => this.#createNew(path),
    writeSync: (fd, bytes, offset, length, position) => {
      this.#write(fd, bytes.subarray(offset, offset + length), position ?? null);
      return length;
    },
    readSync: (fd, bytes, offset, length, position) => {
      const { current } = this.volume.file(this.#fd(fd).node);
      return current.copy(bytes, offset, position, position + length);
    },
    fdatasyncSync: (fd) => this.#sync(fd, this.log.length),
    fstatSync: (fd) => ({ ino: BigInt(this.#fd(fd).node) }),
    closeSync: (fd) => this.close(fd),
    renameSync: (from, to) => this.#rename(from, to),
    linkSync: (from, to) => this.link(from, to),
    statSync: (path) => {
      const found = this.#find(path);
      return found === undefined ? undefined : { ino: BigInt(found) };
    },
    fsyncSync: (fd) => this.#sync(fd, this.log.length),
    rmSync: (path) => this.#unlink(path),
  };

  publish(job: Job): Promise<Failure | null> {
    return publishIn(this.steps, job);
  }

  async writeNew(path: string, bytes: Uint8Array): Promise<void> {
    const fd = this.#createNew(path);
    this.#write(fd, bytes, null);
    this.close(fd);
    await turn();
  }

  async create(path: string): Promise<number> {
    const fd = this.#createNew(path);
    await turn();
    return fd;
  }

  open(path: string): number {
    return this.#open(path, this.#existing(path), false);
  }

  openRecord(path: string): number {
    return this.#open(path, this.#existing(path), true);
  }

  write(fd: number, bytes: Uint8Array): void {
    this.#write(fd, bytes, null);
  }

  async fdatasync(fd: number): Promise<void> {
    const before = this.log.length;
    await turn();
    this.#sync(fd, before);
  }

  fsync(fd: number): Promise<void> {
    return this.fdatasync(fd);
  }

  close(fd: number): void {
    if (!this.#opened.delete(fd)) throw failure('EBADF', `fd ${fd}`);
  }

  async rename(from: string, to: string): Promise<void> {
    this.#rename(from, to);
    await turn();
  }

  link(from: string, to: string): void {
    if (this.#options.links === false) throw failure('EPERM', to);
    const node = this.#existing(from);
    this.volume.file(node);
    if (this.#find(to) !== undefined) throw failure('EEXIST', to);
    this.#name(to, node);
  }

  async unlink(path: string): Promise<void> {
    this.#unlink(path);
    await turn();
  }

  mkdir(path: string): void {
    const found = this.#find(path);
    if (found === undefined) {
      this.mkdir(dirname(path));
      this.#name(path, this.#newNode(), 'directory');
    } else this.volume.directory(found);
  }

  rmdir(path: string): void {
    const found = this.#find(path);
    if (found === undefined) return;
    if (this.volume.directory(found).current.size > 0) throw failure('ENOTEMPTY', path);
    this.#name(path, null);
  }

  async makeApart(path: string): Promise<boolean> {
    if (this.#options.spreads === false) return false;
    this.mkdir(path);
    await turn();
    return true;
  }

  list(path: string): string[] {
    const found = this.#find(path);
    return found === undefined ? [] : [...this.volume.directory(found).current.keys()];
  }

  /** Nothing is replaced on this disk but by the store. */
  leadsTo(): boolean {
    return true;
  }

  pieces(path: string): Iterable<Buffer> | null {
    const bytes = this.read(path);
    return bytes === null ? null : [Buffer.from(bytes)];
  }

  input(path: string): Iterable<Buffer> | null {
    return this.pieces(path);
  }

  map(): null {
    return null;
  }

  size(path: string): number | null {
    return this.read(path)?.length ?? null;
  }

  read(path: string): Buffer | null {
    const found = this.#find(path);
    return found === undefined ? null : this.volume.file(found).current;
  }

  stat(path: string): FileStat | null {
    const found = this.#find(path);
    if (found === undefined) return null;
    const node = this.volume.nodes.get(found);
    const size = node?.type === 'file' ? node.current.length : 0;
    // Nothing here keeps times: no two files have the same one.
    return { size, inode: found, changedMs: this.log.length };
  }

  #make(change: Change): void {
    this.volume.apply(change, this.log.length);
    this.log.push(change);
  }

  #find(path: string): number | undefined {
    if (path === this.root) return ROOT;
    if (!path.startsWith(this.root + sep)) throw failure('EACCES', path);
    return this.volume.find(path.slice(this.root.length));
  }

  #existing(path: string): number {
    const found = this.#find(path);
    if (found === undefined) throw failure('ENOENT', path);
    return found;
  }

  #newNode(): number {
    this.#nextNode += 1;
    return this.#nextNode - 1;
  }

  /** @param type of a node that is new. */
  #name(path: string, node: number | null, type?: Node['type']): void {
    const directory = this.#existing(dirname(path));
    const names = [[basename(path), node]] as const;
    const made = node !== null && type !== undefined ? { made: { node, type } } : {};
    this.#make({ type: 'names', directory, names, ...made });
  }

  #createNew(path: string): number {
    if (this.#find(path) !== undefined) throw failure('EEXIST', path);
    const node = this.#newNode();
    this.#name(path, node, 'file');
    return this.#open(path, node, true);
  }

  #open(path: string, node: number, writable: boolean): number {
    this.#nextFd += 1;
    this.#opened.set(this.#nextFd, { node, path, writable });
    return this.#nextFd;
  }

  #fd(fd: number): Opened {
    const opened = this.#opened.get(fd);
    if (opened === undefined) throw failure('EBADF', `fd ${fd}`);
    return opened;
  }

  /** @param position null for the end. */
  #write(fd: number, bytes: Uint8Array, position: number | null): void {
    const { node, path, writable } = this.#fd(fd);
    if (!writable) throw failure('EBADF', path);
    const offset = position ?? this.volume.file(node).current.length;
    this.#make({ type: 'bytes', file: node, offset, bytes: Buffer.from(bytes) });
  }

  #sync(fd: number, before: number): void {
    const { node, path } = this.#fd(fd);
    if (this.#options.forgets?.(path) === true) return;
    this.#make({ type: 'sync', node, before });
  }

  #rename(from: string, to: string): void {
    const node = this.#existing(from);
    const directory = this.#existing(dirname(to));
    if (this.#existing(dirname(from)) !== directory) throw failure('EXDEV', to);
    // Of two names of one file, both stay.
    if (this.#find(to) === node) return;
    const names: Naming[] = [
      [basename(from), null],
      [basename(to), node],
    ];
    this.#make({ type: 'names', directory, names });
  }

  #unlink(path: string): void {
    const found = this.#find(path);
    if (found === undefined) return;
    this.volume.file(found);
    this.#name(path, null);
  }
}

function failure(code: string, what: string): Error {
  return Object.assign(new Error(`${code}: ${what}`), { code });
}
