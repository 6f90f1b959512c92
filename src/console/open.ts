/** Where the files of the console come from. */
import type { ConsoleAssets } from './assets.ts';
import { bundleConsole } from './bundle.ts';

/** @throws CatalogError `internal` if the console does not compile, which only its source can. */
export function openConsole(): Promise<ConsoleAssets> {
  return bundleConsole();
}
