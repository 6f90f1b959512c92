/** Stores on a disk that waits for no device, which nothing judges after the test. */
import { Store } from '../../src/store/store.ts';
import { quickDisk } from './disk.ts';

type Options = Partial<Parameters<typeof Store.open>[0]>;

/**
 * Opens the store of a directory, or makes one there. What it reports as failed or fatal is thrown.
 * Tests of the store itself use checked.ts, which also runs `check`.
 */
export function openQuickStore(directory: string, options: Options = {}): Promise<Store> {
  const fail = (error: unknown): never => {
    throw error;
  };
  return Store.open({
    command: 'test',
    create: true,
    disk: quickDisk,
    onError: fail,
    onFatal: fail,
    ...options,
    directory,
  });
}
