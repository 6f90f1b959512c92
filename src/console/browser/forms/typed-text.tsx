/** What a field holds, as text. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { COLLECTIONS } from '../api/collections.ts';
import { labelOf } from '../api/references.ts';
import type { CollectionName } from '../api/types.ts';
import { t } from '../messages/text.ts';
import type { FormField, Typed } from './values.ts';
import { textOf } from '../api/text-of.ts';

interface TypedTextProps {
  readonly collection: CollectionName;
  readonly field: FormField;
  readonly typed: Typed;
}

/** References are shown by name as soon as it is read. */
export function TypedText({ collection, field, typed }: TypedTextProps) {
  const references: Readonly<Record<string, CollectionName>> = COLLECTIONS[collection].references;
  const target = references[field.attribute];
  if (target !== undefined && typeof typed === 'number') {
    return <ReferenceText target={target} id={typed} />;
  }
  if (field.kind === 'specs') {
    const chosen = Object.values(typed ?? {}).filter((each) => each !== null);
    return (
      <>
        {chosen.map((id, at) => (
          <span key={String(id)}>
            {at > 0 && ', '}
            <ReferenceText target="options" id={Number(id)} />
          </span>
        ))}
      </>
    );
  }
  if (typeof typed === 'boolean') return <>{t(typed ? 'yes' : 'no')}</>;
  return <>{textOf(typed) || '–'}</>;
}

function ReferenceText({ target, id }: { readonly target: CollectionName; readonly id: number }) {
  const label = useSignal(`#${id}`);
  useEffect(() => {
    const abort = new AbortController();
    labelOf(target, id, abort.signal).then(
      (name) => {
        label.value = name;
      },
      () => {
        // It may have been deleted meanwhile: its number stays.
        label.value = `#${id}`;
      },
    );
    return () => abort.abort();
  }, [label, target, id]);
  return <>{label.value}</>;
}
