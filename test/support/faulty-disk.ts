/** A disk in memory on which one call fails, the n-th of all, with an I/O error. */
import type { Disk } from '../../src/disk/disk.ts';
import { publishIn } from './disk.ts';
import type { PowerDisk } from './power-disk.ts';

/** Whether the call that fails has no effect, or takes effect all the same. */
export type Effect = 'without effect' | 'after its effect';

export interface FaultyDisk {
  readonly disk: Disk;
  /** The call that failed, with what it was about; null if there were not so many. */
  failed(): string | null;
}

/** Calls that release a descriptor even if they fail (close(2)). */
const RELEASING = new Set(['close', 'closeSync']);

/** Calls that give a descriptor, which a caller does not have that gets an error. */
const OPENING = new Set(['open', 'openRecord', 'openSync', 'create']);

/** Calls that reject, where the others throw. */
const ASYNCHRONOUS = new Set(['writeNew', 'create', 'fdatasync', 'fsync', 'rename', 'unlink']);

/** @param nth counts every call of the disk and every step of a durable write, from 1. */
export function faultyDisk(disk: PowerDisk, nth: number, effect: Effect): FaultyDisk {
  let calls = 0;
  let failed: string | null = null;

  const around = (call: string, args: readonly unknown[], act: () => unknown): unknown => {
    calls += 1;
    if (calls !== nth) return act();
    failed = `${call} ${args.filter((arg) => typeof arg === 'string').join(' ')}`;
    const error = Object.assign(new Error(`EIO: ${failed}`), { code: 'EIO' });
    const takesEffect = effect === 'after its effect' || RELEASING.has(call);
    const settle = (result: unknown) => {
      if (takesEffect && OPENING.has(call)) disk.close(result as number);
      throw error;
    };
    const result = takesEffect ? act() : undefined;
    return ASYNCHRONOUS.has(call) ? Promise.resolve(result).then(settle) : settle(result);
  };

  const faulty = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(object, name) {
        const value: unknown = Reflect.get(object, name);
        if (typeof value !== 'function') return value;
        return (...args: readonly unknown[]) =>
          around(String(name), args, () => Reflect.apply(value, object, args) as unknown);
      },
    });

  const steps = faulty(disk.steps);
  const calling = faulty<Disk>(disk);
  const handler: ProxyHandler<Disk> = {
    get: (object, name) =>
      name === 'publish'
        ? (job: Parameters<Disk['publish']>[0]) => publishIn(steps, job)
        : (Reflect.get(object, name) as unknown),
  };
  return { disk: new Proxy(calling, handler), failed: () => failed };
}
