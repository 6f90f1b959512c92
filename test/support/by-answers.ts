/**
 * Computes something from the files of many disks, once for all disks that the computation cannot
 * tell apart.
 *
 * It may only read, and its result may depend on nothing but what the disk answers. The answers are
 * kept as a tree: its first question is the same for every disk, and each answer leads to the next
 * question or to the result. What a disk holds besides, such as the content of a temporary file
 * that is never read, makes no difference.
 */
import type { Disk } from '../../src/disk/disk.ts';
import { messageOf } from '../../src/errors.ts';
import { digestOf, type PowerDisk } from './power-disk.ts';

/** What may be asked, and the answers as texts: equal ones have equal texts. */
const QUESTIONS = {
  list: (disk: PowerDisk, path: string) => JSON.stringify(disk.list(path)),
  size: (disk: PowerDisk, path: string) => String(disk.size(path)),
  read: bytesOf,
  pieces: bytesOf,
};

function bytesOf(disk: PowerDisk, path: string): string {
  const bytes = disk.read(path);
  return bytes === null ? 'none' : digestOf(bytes);
}

interface Question {
  readonly call: keyof typeof QUESTIONS;
  readonly path: string;
}

type Step<T> = { readonly result: T } | (Question & { readonly next: Map<string, Step<T>> });

/** An answer that was given. */
type Given = Question & { readonly answer: string };

/** The results of one computation, by the answers of the disks. */
export class ByAnswers<T> {
  readonly #compute: (disk: Disk) => T;
  #first: Step<T> | undefined;

  /** @param compute asks the same question again after the same answers. */
  constructor(compute: (disk: Disk) => T) {
    this.#compute = compute;
  }

  /** @throws if the computation throws, or asks a disk for more than reading. */
  of(disk: PowerDisk): T {
    let step = this.#first;
    while (step !== undefined) {
      if ('result' in step) return step.result;
      step = step.next.get(answerOf(disk, step));
    }
    const given: Given[] = [];
    const result = this.#compute(recording(disk, given));
    this.#first = this.#with(this.#first, given, result);
    return result;
  }

  /** Adds a result to the tree. */
  #with(first: Step<T> | undefined, given: readonly Given[], result: T): Step<T> {
    const [asked, ...more] = given;
    if (asked === undefined) return { result };
    const { call, path, answer } = asked;
    const step = first ?? { call, path, next: new Map() };
    if ('result' in step || step.call !== call || step.path !== path) {
      throw new Error(`${call} ${path} is asked after answers that led elsewhere before`);
    }
    step.next.set(answer, this.#with(step.next.get(answer), more, result));
    return step;
  }
}

function answerOf(disk: PowerDisk, { call, path }: Question): string {
  try {
    return QUESTIONS[call](disk, path);
  } catch (error) {
    return messageOf(error);
  }
}

/** The same disk, which records what it answers. */
function recording(disk: PowerDisk, given: Given[]): Disk {
  const answering = (call: Question['call']) => (path: string) => {
    given.push({ call, path, answer: answerOf(disk, { call, path }) });
    return disk[call](path);
  };
  const calls = Object.keys(QUESTIONS) as Question['call'][];
  const answers = Object.fromEntries(calls.map((call) => [call, answering(call)]));
  return new Proxy(answers as unknown as Disk, {
    get(target, call) {
      if (!(call in target))
        throw new Error(`${String(call)} is asked of a disk that is only read`);
      return Reflect.get(target, call);
    },
  });
}
