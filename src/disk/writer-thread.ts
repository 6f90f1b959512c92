/**
 * The thread that waits for the device, so that the event loop does not. A whole durable write
 * takes one message each way, however many system calls it makes.
 */
import { type Failure, type Job, publish, RECORD } from './publish.ts';

interface Settled {
  readonly id: number;
  readonly failure: Failure | null;
}

/** The thread's program, as text because a compiled executable has no file to start it from. */
const PROGRAM = `
const fs = require('node:fs');
const publish = ${publish.toString()};
const record = {
  isForeign: ${RECORD.isForeign.toString()},
  overwrite: ${RECORD.overwrite.toString()},
};
onmessage = ({ data: { id, job } }) => postMessage({ id, failure: publish(fs, job, record) });
`;

/** The result of a write whose thread has died: how far it got is unknown. */
const DIED: Failure = { code: undefined, message: "the writer's thread died", reached: 'name' };

export class WriterThread {
  readonly #waiting = new Map<number, (failure: Failure | null) => void>();
  #worker: Worker | null = null;
  #last = 0;

  /**
   * Starts the thread ahead of time. Otherwise the first job starts it, and if no descriptor is
   * free by then, the runtime ends the process.
   */
  start(): void {
    if (this.#worker !== null) return;
    this.#worker = this.#create();
    // An idle thread must not keep the process alive.
    this.#worker.unref();
  }

  /** See {@link publish}; jobs are done one after the other, in the order of the calls. */
  publish(job: Job): Promise<Failure | null> {
    const worker = (this.#worker ??= this.#create());
    const id = (this.#last += 1);
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      worker.ref();
      worker.postMessage({ id, job });
    });
  }

  #create(): Worker {
    const program = URL.createObjectURL(new Blob([PROGRAM], { type: 'text/javascript' }));
    const worker = new Worker(program);
    worker.addEventListener('message', ({ data }: MessageEvent<Settled>) => {
      this.#settle(data.id, data.failure);
    });
    worker.addEventListener('error', () => {
      this.#worker = null;
      for (const id of this.#waiting.keys()) this.#settle(id, DIED);
    });
    return worker;
  }

  #settle(id: number, failure: Failure | null): void {
    this.#waiting.get(id)?.(failure);
    this.#waiting.delete(id);
    // An idle thread must not keep the process alive.
    if (this.#waiting.size === 0) this.#worker?.unref();
  }
}
