/** The form of one item, and what is shown beside it. */
import { effect, type Signal, useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { whenSaved, whileSaving } from '../saving.ts';
import { mayWrite } from '../api/session.ts';
import { BASE_PATH } from '../base.ts';
import { holdBack, navigate, path, scrollBack } from '../location.ts';
import { locale, t } from '../messages/text.ts';
import { CATEGORY_LEVELS, titleOf } from '../parts/attributes.ts';
import { followCategories } from '../parts/category-changes.ts';
import { confirmLeaving } from '../parts/dialog.tsx';
import { announce, complain, Problem } from '../parts/notices.tsx';
import { dropUnchosen, hasUnchosen } from '../parts/pickers/unchosen.tsx';
import { useTitle } from '../parts/title.ts';
import { catalogVersion } from '../parts/version.ts';
import { ConflictView } from './conflict/conflict-view.tsx';
import { Facts } from './facts.tsx';
import { Fields, focusProblem, type Missing } from './fields.tsx';
import { CreateDialog } from './create-dialog.tsx';
import type { FormState } from './form-state.ts';
import { Preview, PreviewButton } from './preview.tsx';
import { Conflict, isRefusal, refusalsOf, save } from './save.ts';
import { SaveBar } from './save-bar.tsx';
import { SpuParts } from './spu/spu-parts.tsx';

interface Saving {
  readonly busy: Signal<boolean>;
  readonly conflict: Signal<Conflict | null>;
  /** What the server refused and belongs to no field. */
  readonly refusal: Signal<string | null>;
  readonly run: () => Promise<void>;
}

/** Shows what a save came to. @throws whatever is no answer to it. */
function settle(
  form: FormState,
  { conflict, refusal }: Omit<Saving, 'run' | 'busy'>,
  error: unknown,
) {
  if (error instanceof Conflict) {
    conflict.value = error;
    return;
  }
  if (!isRefusal(error)) throw error;
  const { '': rest, ...problems } = refusalsOf(form.attributes(), error);
  form.refused.value = problems;
  refusal.value = rest ?? t('form.invalid');
}

/** Waits for options that are being added, and until their field no longer shows them as unsaved. */
async function whenAdded(): Promise<void> {
  await whenSaved();
  await new Promise((rendered) => setTimeout(rendered));
}

function useSaving(form: FormState, root: { current: HTMLElement | null }): Saving {
  const busy = useSignal(false);
  const conflict = useSignal<Conflict | null>(null);
  const refusal = useSignal<string | null>(null);
  // Whether the user has asked for another save while one was under way.
  const again = useRef(false);
  const run = async () => {
    refusal.value = null;
    if (hasUnchosen(root.current)) {
      await whenAdded();
      if (root.current === null) return;
    }
    again.current = busy.value;
    if (busy.value) return;
    if (!form.validate() || hasUnchosen(root.current)) {
      refusal.value = t('form.invalid');
      requestAnimationFrame(() => focusProblem(root.current));
      return;
    }
    busy.value = true;
    try {
      await write(form, () => root.current !== null);
    } catch (error) {
      // A form that was left meanwhile shows nothing.
      if (root.current === null) throw error;
      settle(form, { conflict, refusal }, error);
      requestAnimationFrame(() => focusProblem(root.current));
      again.current = false;
    } finally {
      busy.value = false;
    }
    // What was typed since then; a double click asks for nothing more.
    if (again.current && root.current !== null && form.dirty.value) await run();
  };
  return { busy, conflict, refusal, run };
}

/** @param isShown whether the form is still there: the user may leave it while it is saved. */
async function write(form: FormState, isShown: () => boolean): Promise<void> {
  // Not whether there is an item: that may be known from an earlier attempt.
  const isNew = path.value.endsWith('/new');
  const sent = form.typed.value;
  const loaded = await whileSaving(() => save(form));
  const { collection } = form;
  if (isShown()) form.saved(loaded, sent);
  else catalogVersion.value += 1;
  announce(t('form.saved', { name: titleOf(collection, loaded.item) }));
  followCategories(collection.name);
  if (!isNew || !isShown()) return;
  // For the user, the form is the same: what is typed goes on, and keeps the focus.
  const address = `/${collection.name}/${loaded.item.id}`;
  await navigate(address, { replace: true, asks: false, continues: true });
}

/** Saves with Ctrl + S wherever the focus is, except below a dialog. */
function useSaveKey(submit: () => void): void {
  const latest = useRef(submit);
  latest.current = submit;
  useLayoutEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== 's') return;
      event.preventDefault();
      if (mayWrite.value && document.querySelector('dialog[open]') === null) latest.current();
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, []);
}

/** Keeps a draft, and asks before unsaved changes are left. */
function useGuard(form: FormState, root: { current: HTMLElement | null }): void {
  // At once, and not after a frame: the page may be closed or loaded again before there is one.
  useLayoutEffect(() => effect(() => form.keep()), [form]);
  useLayoutEffect(() => {
    const isUnsaved = () => form.dirty.value || hasUnchosen(root.current);
    return holdBack({
      isUnsaved,
      async ask() {
        const leave = await confirmLeaving(isUnsaved);
        if (leave) form.discard();
        return leave;
      },
    });
  }, [form, root]);
}

/** Keeps prices what they are if another language is chosen. */
function useLanguage(form: FormState): void {
  const typedIn = useRef(locale.value);
  useLayoutEffect(() => {
    if (typedIn.current !== locale.value) form.translate(typedIn.current);
    typedIn.current = locale.value;
  }, [form, locale.value]);
}

/**
 * @param form of an item or of a new one. What is typed is a draft until it is saved or dropped.
 */
export function ItemForm({ form }: { readonly form: FormState }) {
  const root = useRef<HTMLDivElement>(null);
  const fields = useRef<HTMLFormElement>(null);
  const saving = useSaving(form, root);
  useGuard(form, root);
  useLanguage(form);
  useEffect(scrollBack, []);
  const missing = useSignal<Missing | null>(null);
  const { collection, base } = form;
  const item = base.value?.item ?? null;
  const submit = () => void saving.run().catch(complain);
  useSaveKey(submit);
  const discard = () => {
    form.discard();
    dropUnchosen(fields.current);
  };
  const close = () => {
    saving.conflict.value = null;
  };
  return (
    <div ref={root}>
      <Heading form={form} />
      {form.restored.value && form.dirty.value && <Restored onDiscard={discard} />}
      <div class={form.previewed.value ? 'beside' : ''}>
        <form
          ref={fields}
          class="item"
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            submit();
          }}
        >
          <Problem text={saving.refusal.value} />
          <Fields
            form={form}
            readOnly={!mayWrite.value}
            onMissing={(each) => {
              missing.value = each;
            }}
          />
          {item !== null && <Facts collection={collection} item={item} />}
          {mayWrite.value && <SaveBar {...{ form, discard }} busy={saving.busy.value} />}
        </form>
        {form.previewed.value && <Preview form={form} />}
      </div>
      {item !== null && collection.name === 'goods' && <SpuParts spu={item} form={form} />}
      <CreateMissing form={form} missing={missing} />
      {saving.conflict.value !== null && (
        <ConflictView
          form={form}
          theirs={saving.conflict.value.theirs}
          onClose={close}
          onSave={submit}
        />
      )}
    </div>
  );
}

interface MissingProps {
  readonly form: FormState;
  readonly missing: Signal<Missing | null>;
}

/** Creates what a reference needs, and chooses it. */
function CreateMissing({ form, missing }: MissingProps) {
  const wanted = missing.value;
  if (wanted === null) return null;
  const close = () => {
    missing.value = null;
  };
  return (
    <CreateDialog
      target={wanted.target}
      name={wanted.name}
      initial={initialFor(form, wanted)}
      level={levelFor(wanted)}
      onClose={() => {
        close();
        wanted.back();
      }}
      onCreated={(id) => {
        // It was cancelled meanwhile, and something else may have been chosen.
        if (missing.value !== wanted) return;
        form.set(wanted.attribute, id);
        close();
      }}
    />
  );
}

/** A category that is created for a level of an SPU, or for a SKU, is to fit there. */
function levelFor({ attribute, target }: Missing): number | undefined {
  const [level, other] = target === 'categories' ? (CATEGORY_LEVELS[attribute] ?? []) : [];
  return other === undefined ? level : undefined;
}

/** A category that is created here is below the one that was chosen for the level above it. */
function initialFor(form: FormState, { attribute }: Missing): Record<string, number> {
  const level = Number(/^category([23])_id$/.exec(attribute)?.[1] ?? 0);
  const above = level === 0 ? null : form.typed.value[`category${level - 1}_id`];
  return typeof above === 'number' ? { parent_id: above } : {};
}

function Heading({ form }: { readonly form: FormState }) {
  const { collection, base } = form;
  const item = base.value?.item ?? null;
  const title = item === null ? t(`new.${collection.name}`) : titleOf(collection, item);
  useTitle(title);
  const hasPage = collection.name === 'skus' || collection.name === 'goods';
  return (
    <div class="heading">
      <h1>{title}</h1>
      <div class="actions">
        {item !== null && hasPage && (
          <a
            class="button"
            href={`${BASE_PATH}/pages/${collection.name}/${item.id}.html`}
            target="_blank"
            rel="noreferrer"
          >
            {t('item.page')}
          </a>
        )}
        {hasPage && mayWrite.value && <PreviewButton form={form} />}
      </div>
    </div>
  );
}

function Restored({ onDiscard }: { readonly onDiscard: () => void }) {
  return (
    <div class="notice-inline" role="status">
      <p>{t('form.restored')}</p>
      <button type="button" class="plain" onClick={onDiscard}>
        {t('form.discard')}
      </button>
    </div>
  );
}
