/** The page of a list: read again when the address or the catalog changes, and cancelled then. */
import { type Signal, useSignal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import type { Collection } from '../api/collections.ts';
import { isAborted } from '../api/client.ts';
import { list, type Page } from '../api/items.ts';
import { wordsFor } from '../parts/notices.tsx';
import { catalogVersion, useVersion } from '../parts/version.ts';
import { type ListQuery, pageParameters } from './list-query.ts';

/** A page, and what was asked for: the address may ask for another page already. */
interface FoundPage extends Page {
  readonly query: ListQuery;
}

export interface ShownPage {
  /** Null until the first page is there. */
  readonly page: Signal<FoundPage | null>;
  readonly loading: Signal<boolean>;
  /** Why the page could not be read; null if it could. */
  readonly failure: Signal<string | null>;
  /** Reads the page again. */
  readonly reload: () => void;
}

/** How long a request may take before the list says that it is loading, in milliseconds. */
const PATIENCE_MS = 200;

/**
 * @param query what the address asks for. A change of it cancels the request for the page before.
 * @returns the page that was read last; it stays while another one is read, or if that fails.
 */
export function usePage(collection: Collection, query: ListQuery): ShownPage {
  const page = useSignal<FoundPage | null>(null);
  const loading = useSignal(true);
  const failure = useSignal<string | null>(null);
  const [version, reload] = useVersion();
  const parameters = JSON.stringify(pageParameters(query));
  const wanted = version + catalogVersion.value;
  // Before the first paint, so that the server works meanwhile.
  useLayoutEffect(() => {
    void wanted;
    const abort = new AbortController();
    const timer = setTimeout(() => {
      loading.value = true;
    }, PATIENCE_MS);
    list(collection.name, JSON.parse(parameters) as Record<string, string>, abort.signal)
      .then(
        (found) => {
          page.value = { ...found, query };
          failure.value = null;
        },
        (error: unknown) => {
          if (!isAborted(error)) failure.value = wordsFor(error);
        },
      )
      .finally(() => {
        if (abort.signal.aborted) return;
        clearTimeout(timer);
        loading.value = false;
      });
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [collection, parameters, wanted, page, loading, failure]);
  return { page, loading, failure, reload };
}
