/**
 * The pages' thread, as the thread of the requests uses it.
 *
 * Invariants:
 * 1. If the thread dies, its calls in progress fail, and the next call starts another thread.
 * 2. After that the manifest names no state any more, so that the next start compares all pages:
 *    with the thread, the records of the pages that it made since the last save were lost, and the
 *    new thread may have read other templates.
 */
import type { LogPosition } from '../../store/change-log.ts';
import type { FactGroup, PageFacts } from '../shop/facts.ts';
import type { PageName } from '../shop/names.ts';
import type { Chunk, PageMaker, PageResult, PreviewResult, RenderResult } from './page-writer.ts';
import type { Method, Reply, Setup } from './protocol.ts';

/**
 * In a compiled executable the thread's file is found by its path from the root of the project. A
 * URL from import.meta.url would name the folder in which the executable was built.
 */
const PROGRAM = Bun.isStandaloneExecutable
  ? './src/pages/writer/thread.ts'
  : new URL('./thread.ts', import.meta.url).href;

interface Waiting {
  readonly resolve: (value: never) => void;
  readonly reject: (error: Error) => void;
}

export class PageThread implements PageMaker {
  readonly #setup: Setup;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | null = null;
  #lastId = 0;
  #hasDied = false;

  constructor(setup: Setup) {
    this.#setup = setup;
  }

  make(groups: readonly FactGroup[], always: boolean): Promise<PageResult[]> {
    return this.#call('make', [groups, always]);
  }

  render(facts: PageFacts): Promise<RenderResult> {
    return this.#call('render', [facts]);
  }

  forget(name: PageName): Promise<void> {
    return this.#call('forget', [name]);
  }

  preview(facts: PageFacts, root: string): Promise<PreviewResult> {
    return this.#call('preview', [facts, root]);
  }

  knows(state: LogPosition): Promise<boolean> {
    return this.#call('knows', [state]);
  }

  damaged(fromStart: boolean): Promise<Chunk> {
    return this.#call('damaged', [fromStart]);
  }

  present(fromStart: boolean, unknown: boolean): Promise<Chunk> {
    return this.#call('present', [fromStart, unknown]);
  }

  sweep(): Promise<void> {
    return this.#call('sweep', []);
  }

  save(state: LogPosition | null): Promise<void> {
    return this.#call('save', [this.#hasDied ? null : state]);
  }

  /** Ends the thread. Calls in progress fail. */
  close(): void {
    this.#worker?.terminate();
    this.#fail('the pages thread was ended');
  }

  #call<M extends Method>(
    method: M,
    args: Parameters<PageMaker[M]>,
  ): ReturnType<PageMaker[M]> extends Promise<infer T> ? Promise<T> : never;
  #call(method: Method, args: readonly unknown[]): Promise<unknown> {
    const worker = (this.#worker ??= this.#start());
    const id = (this.#lastId += 1);
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      worker.ref();
      worker.postMessage({ id, method, args });
    });
  }

  #start(): Worker {
    const worker = new Worker(PROGRAM);
    worker.addEventListener('message', ({ data }: MessageEvent<Reply>) => this.#settle(data));
    const died = (why: string): void => {
      // A thread that dies of an error reports its end as well, when another may already work.
      if (this.#worker !== worker) return;
      this.#hasDied = true;
      this.#fail(`the pages thread died: ${why}`);
    };
    worker.addEventListener('error', ({ message }) => died(message));
    worker.addEventListener('close', () => died('it has ended'));
    worker.postMessage(this.#setup);
    return worker;
  }

  #settle(reply: Reply): void {
    const call = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    if ('error' in reply) call?.reject(new Error(reply.error));
    else call?.resolve(reply.value as never);
    // An idle thread must not keep the process alive.
    if (this.#waiting.size === 0) this.#worker?.unref();
  }

  #fail(message: string): void {
    this.#worker = null;
    const calls = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of calls) reject(new Error(message));
  }
}
