/** Numbers for the dependencies of an effect that reads from the server: a new one reads again. */
import { signal, useSignal } from '@preact/signals';

/** Counts what this tab wrote besides the form or list that is shown. */
export const catalogVersion = signal(0);

/** @returns a number, and a function that changes it. */
export function useVersion(): readonly [version: number, reload: () => void] {
  const version = useSignal(0);
  const reload = () => {
    version.value += 1;
  };
  return [version.value, reload];
}
