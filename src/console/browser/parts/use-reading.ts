/** What a screen reads from the server when it appears. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { isAborted } from '../api/client.ts';
import { wordsFor } from './notices.tsx';
import { useVersion } from './version.ts';

/**
 * Reads at once, and again if a dependency changes, which ends the attempt before.
 *
 * @param read gets a signal that ends it.
 * @returns what was found last, null before that; why the last attempt failed, null if it did not;
 *   and what reads again.
 */
export function useReading<T>(
  read: (signal: AbortSignal) => Promise<T>,
  dependencies: readonly unknown[],
) {
  const found = useSignal<T | null>(null);
  const failure = useSignal<string | null>(null);
  const [version, reload] = useVersion();
  useEffect(() => {
    const abort = new AbortController();
    read(abort.signal).then(
      (value) => {
        if (abort.signal.aborted) return;
        found.value = value;
        failure.value = null;
      },
      (error: unknown) => {
        if (!abort.signal.aborted && !isAborted(error)) failure.value = wordsFor(error);
      },
    );
    return () => abort.abort();
  }, [version, ...dependencies]);
  return { found, failure, reload };
}
