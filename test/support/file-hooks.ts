/**
 * What a module of test/support does for every test file. Files may share a process
 * (test/batch.ts), which imports such a module only once.
 */
interface FileHook {
  /** Called before the tests of a file are declared. */
  readonly begin: () => void;
  /** Called when they are over. @returns whether the file fails whatever its tests say. */
  readonly end: () => boolean;
}

const hooks: FileHook[] = [];

/** Begins for the file that is being imported, and for all that follow it in the process. */
export function inEveryFile(hook: FileHook): void {
  hooks.push(hook);
  hook.begin();
}

/** Called between two files. */
export function nextFile(): void {
  for (const { begin } of hooks) begin();
}

const lasts: (() => Promise<void>)[] = [];

/** @param run ends what the files of a process share, such as a browser, when all are over. */
export function afterAllFiles(run: () => Promise<void>): void {
  lasts.push(run);
}

/** Called after the last file. */
export async function endOfFiles(): Promise<void> {
  for (const run of lasts) await run();
}

/** @returns whether the file that has ended fails. */
export function hasFailed(): boolean {
  return hooks.map(({ end }) => end()).includes(true);
}

// A module may add a hook for a file that ends the process.
process.on('exit', () => {
  if (hasFailed()) process.exitCode = 1;
});
