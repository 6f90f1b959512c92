/** The name of an item of which only the id is known. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { labelOf, rememberedName } from '../../api/references.ts';
import type { CollectionName } from '../../api/types.ts';

/**
 * @param known the name, if the caller has it.
 * @returns what is known, else what the server says; until then the name under which it was chosen
 *   or created, and `#23` if it cannot be read. Null if there is no id, and before anything is known.
 */
export function useName(
  collection: CollectionName,
  id: number | null,
  known?: string,
): string | null {
  const read = useSignal<{ readonly id: number; readonly name: string } | null>(null);
  useEffect(() => {
    if (id === null || known !== undefined) return;
    const abort = new AbortController();
    labelOf(collection, id, abort.signal).then(
      (name) => {
        read.value = { id, name };
      },
      () => {
        if (abort.signal.aborted) return;
        read.value = { id, name: rememberedName(collection, id) ?? `#${id}` };
      },
    );
    return () => abort.abort();
  }, [read, collection, id, known]);
  if (id === null) return null;
  if (known !== undefined) return known;
  if (read.value?.id === id) return read.value.name;
  return rememberedName(collection, id) ?? null;
}
