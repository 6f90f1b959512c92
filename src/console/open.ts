/** Where the files of the console come from. */
import type { ConsoleAssets } from './assets.ts';

/** @returns no file until the console is built: every path below `/console/` is 404. */
export function openConsole(): Promise<ConsoleAssets> {
  return Promise.resolve(new Map());
}
