/** What a field holds, as text. */
import { COLLECTIONS } from '../api/collections.ts';
import type { CollectionName } from '../api/types.ts';
import { t } from '../messages/text.ts';
import { textOf } from '../api/text-of.ts';
import { useName } from '../parts/pickers/use-name.ts';
import type { FormField, Typed } from './values.ts';

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
  return <>{useName(target, id) ?? `#${id}`}</>;
}
