/** Where the files of the console come from. */
import type { ConsoleAssets, OpenConsole } from './assets.ts';
import { bundleConsole } from './bundle.ts';

/** @throws CatalogError `internal` if the console does not compile, which only its source can. */
export function openConsole(): Promise<ConsoleAssets> {
  return bundleConsole();
}

/** @returns what opens the console once, and again only if that failed. */
export function onceOpened(open: OpenConsole): OpenConsole {
  let opened: Promise<ConsoleAssets> | null = null;
  return () => {
    opened ??= open().catch((error: unknown) => {
      opened = null;
      throw error;
    });
    return opened;
  };
}
