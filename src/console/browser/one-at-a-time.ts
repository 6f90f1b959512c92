/** What a double click must not do twice. */
import { useRef } from 'preact/hooks';

/** @returns the work, which does nothing while it is under way already. */
export function useOneAtATime<Given extends unknown[]>(
  work: (...given: Given) => Promise<void>,
): (...given: Given) => Promise<void> {
  const busy = useRef(false);
  return async (...given) => {
    if (busy.current) return;
    busy.current = true;
    try {
      await work(...given);
    } finally {
      busy.current = false;
    }
  };
}
