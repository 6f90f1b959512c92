/** Another user, or another tab, has changed the item: both versions, field by field, and which of them is kept. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { receive } from '../../api/client.ts';
import type { Loaded } from '../../api/items.ts';
import { session } from '../../api/session.ts';
import { formatTime, t } from '../../messages/text.ts';
import { Dialog } from '../../parts/dialog.tsx';
import type { FormState } from '../form-state.ts';
import { isOwn } from '../save.ts';
import type { Typed, TypedFields } from '../values.ts';
import { type Difference, type Side, VersionTable } from './versions.tsx';

interface ConflictProps {
  readonly form: FormState;
  readonly theirs: Loaded;
  readonly onClose: () => void;
  readonly onSave: () => void;
}

/** Fields that differ between the two versions, unless this form has written what differs. */
function differencesOf(form: FormState, theirs: Loaded): Difference[] {
  const before = form.base.value?.item ?? null;
  const mineChanged = new Set(form.unsavedFields());
  const others = form.changedFields(theirs.item).filter((each) => !isOwn(form, each, theirs.item));
  return others.map((field) => {
    const base = form.typedFor(field, before);
    const mine = form.typed.value[field.attribute] ?? null;
    const their = form.typedFor(field, theirs.item);
    const changed = mineChanged.has(field);
    return { field, base, mine, theirs: their, changed, both: changed && !same(base, their) };
  });
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** What is kept if nobody chooses: what only one side has changed, and of both mine. */
function proposal({ changed }: Difference): Side {
  return changed ? 'mine' : 'theirs';
}

/** Which difference is chosen with another: the specifications of a SKU are those of its SPU. */
function leaderOf(each: Difference, differences: readonly Difference[]): Difference {
  const spu = differences.find(({ field }) => field.attribute === 'spu_id');
  return each.field.kind === 'specs' && spu !== undefined ? spu : each;
}

/** Who wrote the item last, if the server tells. */
function useLastWriter(form: FormState, theirs: Loaded): string | null {
  const words = useSignal<string | null>(null);
  const { path, administered } = form.collection;
  const before = form.base.value?.item;
  const id = before?.id;
  // The specifications of a SKU are rows of their own, whose entries only admins read.
  const isTold = administered && same(before?.['specs'], theirs.item['specs']);
  useEffect(() => {
    if (!isTold || id === undefined) return;
    receive<readonly { readonly subject: string; readonly time: string }[]>(
      `${path}${id}/audits/?order=desc&per_page=1`,
    ).then(
      ([last]) => {
        if (last === undefined) return;
        const { subject: who, time } = last;
        const key = who === session.value?.subject ? 'conflict.you' : 'conflict.who';
        words.value = t(key, { who, when: formatTime(time) });
      },
      () => {
        // The trail may be switched off; the versions are shown all the same.
        words.value = null;
      },
    );
  }, [words, path, isTold, id]);
  return words.value;
}

/** It puts the chosen values into the form; `onSave` is then to save them over `theirs`. */
export function ConflictView({ form, theirs, onClose, onSave }: ConflictProps) {
  const differences = differencesOf(form, theirs);
  const chosen = useSignal<Readonly<Record<string, Side>>>({});
  const who = useLastWriter(form, theirs);
  const sideOf = (each: Difference) => {
    const leader = leaderOf(each, differences);
    return chosen.value[leader.field.attribute] ?? proposal(leader);
  };
  const merge = () => {
    const merged: Record<string, Typed> = { ...form.typed.value };
    for (const each of differences) {
      if (sideOf(each) === 'theirs') merged[each.field.attribute] = each.theirs;
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
          onChoose={(each, side) => {
            const { attribute } = leaderOf(each, differences).field;
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
