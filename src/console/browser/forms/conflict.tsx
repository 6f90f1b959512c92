/** Another user has changed the item: both versions, field by field, and which of them is kept. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { receive } from '../api/client.ts';
import type { Loaded } from '../api/items.ts';
import { formatTime, t } from '../messages/text.ts';
import { attributeLabel } from '../parts/attributes.ts';
import { Dialog } from '../parts/dialog.tsx';
import type { FormState, TypedFields } from './form-state.ts';
import type { FormField, Typed } from './values.ts';
import { TypedText } from './typed-text.tsx';

interface ConflictProps {
  readonly form: FormState;
  readonly theirs: Loaded;
  readonly onClose: () => void;
  readonly onSave: () => void;
}

type Side = 'mine' | 'theirs';

interface Difference {
  readonly field: FormField;
  readonly base: Typed;
  readonly mine: Typed;
  readonly theirs: Typed;
  /** Whether this side has changed it. */
  readonly changed: boolean;
  /** Whether both sides have changed it. */
  readonly both: boolean;
}

/** Fields that differ between the two versions. */
function differencesOf(form: FormState, theirs: Loaded): Difference[] {
  const before = form.base.value?.item ?? null;
  const mineChanged = new Set(form.changedFields());
  return form.changedFields(theirs.item).map((field) => {
    const base = form.typedFor(field, before);
    const mine = form.typed.value[field.attribute] ?? null;
    const their = form.typedFor(field, theirs.item);
    const changed = mineChanged.has(field);
    return { field, base, mine, theirs: their, changed, both: changed && !same(base, their) };
  });
}

function same(a: Typed, b: Typed): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** What is kept if nobody chooses: what only one side has changed, and of both mine. */
function proposal({ changed }: Difference): Side {
  return changed ? 'mine' : 'theirs';
}

/** Who wrote the item last, if the server tells. */
function useLastWriter(form: FormState): string | null {
  const words = useSignal<string | null>(null);
  const { path, administered } = form.collection;
  const id = form.base.value?.item.id;
  useEffect(() => {
    if (!administered || id === undefined) return;
    receive<readonly { readonly subject: string; readonly time: string }[]>(
      `${path}${id}/audits/?order=desc&per_page=1`,
    ).then(
      ([last]) => {
        if (last === undefined) return;
        words.value = t('conflict.who', { who: last.subject, when: formatTime(last.time) });
      },
      () => {
        // The trail may be switched off; the versions are shown all the same.
        words.value = null;
      },
    );
  }, [words, path, administered, id]);
  return words.value;
}

export function ConflictView({ form, theirs, onClose, onSave }: ConflictProps) {
  const differences = differencesOf(form, theirs);
  const chosen = useSignal<Readonly<Record<string, Side>>>({});
  const who = useLastWriter(form);
  const sideOf = (each: Difference) => chosen.value[each.field.attribute] ?? proposal(each);
  const merge = () => {
    const merged: Record<string, Typed> = Object.fromEntries(
      form.fields.map((field) => [field.attribute, form.typedFor(field, theirs.item)]),
    );
    for (const each of differences) {
      if (sideOf(each) === 'mine') merged[each.field.attribute] = each.mine;
    }
    form.rebase(theirs, merged satisfies TypedFields);
    onClose();
  };
  const all = (side: Side) => {
    const names = differences.map(({ field }) => [field.attribute, side]);
    chosen.value = Object.fromEntries(names) as Record<string, Side>;
  };
  return (
    <Dialog title={t('conflict.title')} onClose={onClose} wide alert>
      <div class="dialog-body">
        <p>{t('conflict.text')}</p>
        {who !== null && <p class="soft">{who}</p>}
        <VersionTable
          differences={differences}
          sideOf={sideOf}
          collection={form.collection.name}
          onChoose={(attribute, side) => {
            chosen.value = { ...chosen.value, [attribute]: side };
          }}
        />
      </div>
      <footer>
        <button type="button" onClick={() => all('theirs')}>
          {t('conflict.allTheirs')}
        </button>
        <button type="button" onClick={() => all('mine')}>
          {t('conflict.allMine')}
        </button>
        <button type="button" onClick={merge}>
          {t('conflict.edit')}
        </button>
        <button
          type="button"
          class="primary"
          onClick={() => {
            merge();
            onSave();
          }}
        >
          {t('conflict.save')}
        </button>
      </footer>
    </Dialog>
  );
}

interface TableProps {
  readonly differences: readonly Difference[];
  readonly sideOf: (difference: Difference) => Side;
  readonly collection: FormState['collection']['name'];
  readonly onChoose: (attribute: string, side: Side) => void;
}

function VersionTable({ differences, sideOf, collection, onChoose }: TableProps) {
  return (
    <div class="table" role="region" aria-label={t('conflict.versions')} tabIndex={0}>
      <table>
        <caption class="hidden">{t('conflict.versions')}</caption>
        <thead>
          <tr>
            <th scope="col">{t('conflict.attribute')}</th>
            <th scope="col">{t('conflict.before')}</th>
            <th scope="col">{t('conflict.mine')}</th>
            <th scope="col">{t('conflict.theirs')}</th>
          </tr>
        </thead>
        <tbody>
          {differences.map((each) => (
            <Versions
              key={each.field.attribute}
              difference={each}
              side={sideOf(each)}
              collection={collection}
              onChoose={(side) => onChoose(each.field.attribute, side)}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface VersionsProps {
  readonly difference: Difference;
  readonly side: Side;
  readonly collection: FormState['collection']['name'];
  readonly onChoose: (side: Side) => void;
}

function Versions({ difference, side, collection, onChoose }: VersionsProps) {
  const { field, base, both } = difference;
  const { attribute } = field;
  return (
    <tr>
      <th scope="row">
        {attributeLabel(attribute)}
        {both && <span class="tag">{t('conflict.both')}</span>}
      </th>
      <td class="wraps soft">
        <TypedText {...{ field, collection }} typed={base} />
      </td>
      {(['mine', 'theirs'] as const).map((each) => (
        <td key={each} class={side === each ? 'wraps kept' : 'wraps'}>
          <label>
            <input
              type="radio"
              name={`version-${attribute}`}
              checked={side === each}
              onChange={() => onChoose(each)}
            />{' '}
            <TypedText {...{ field, collection }} typed={difference[each]} />
          </label>
        </td>
      ))}
    </tr>
  );
}
