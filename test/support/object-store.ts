/** An archive's objects in a map, behind a network that a test can break. */
import type { ObjectStore } from '../../src/archive/storage/object-store.ts';
import { wholeOf } from '../../src/streams.ts';

type Call = 'put' | 'get' | 'list' | 'remove';

/** A fault: called with each call, and throws what the network does. */
type Fault = (call: Call, name: string) => void | Promise<void>;

export class MemoryObjects implements ObjectStore {
  readonly url = 'memory:';
  readonly objects = new Map<string, Buffer>();
  /** Calls that were made, in order. */
  readonly calls: string[] = [];
  /** Before a call takes effect: a network that is cut, or slow. */
  before: Fault = () => {};
  /** After it has taken effect: the answer is lost. */
  after: Fault = () => {};

  async put(name: string, bytes: Uint8Array): Promise<void> {
    await this.#call('put', name, () => this.objects.set(name, Buffer.from(bytes)));
  }

  async putStream(name: string, pieces: AsyncIterable<Uint8Array>): Promise<void> {
    const bytes = await wholeOf(pieces);
    await this.put(name, bytes);
  }

  async get(name: string): Promise<AsyncIterable<Uint8Array> | null> {
    const bytes = await this.#call('get', name, () => this.objects.get(name) ?? null);
    return bytes && cut(bytes);
  }

  async *list(folder: string, after: string): AsyncGenerator<string> {
    const start = `${folder}/`;
    const names = await this.#call('list', folder, () => [...this.objects.keys()]);
    for (const name of names.toSorted()) {
      if (name.startsWith(start) && name > start + after) yield name.slice(start.length);
    }
  }

  async remove(name: string): Promise<void> {
    await this.#call('remove', name, () => this.objects.delete(name));
  }

  /** The names in a folder, without it. */
  in(folder: string): string[] {
    const names = [...this.objects.keys()].filter((name) => name.startsWith(`${folder}/`));
    return names.toSorted().map((name) => name.slice(folder.length + 1));
  }

  async #call<T>(call: Call, name: string, effect: () => T): Promise<T> {
    this.calls.push(`${call} ${name}`);
    await this.before(call, name);
    const result = effect();
    await this.after(call, name);
    return result;
  }
}

/** In pieces of one memory, as a file is read. */
async function* cut(bytes: Buffer): AsyncGenerator<Uint8Array> {
  const memory = Buffer.alloc(1000);
  for (let at = 0; at < bytes.length; at += memory.length) {
    const length = bytes.copy(memory, 0, at);
    yield memory.subarray(0, length);
  }
}

/** What a network says that is gone. */
export function unreachable(): never {
  throw new Error('connection refused');
}
