/** Creates an item that a reference is to name, without leaving the form. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { collectionOf } from '../api/collections.ts';
import { addCategory, chainOf, needCategories, rememberName } from '../api/references.ts';
import { schemaOf } from '../api/schema.ts';
import type { CollectionName } from '../api/types.ts';
import { t } from '../messages/text.ts';
import { useOneAtATime } from '../one-at-a-time.ts';
import { followCategories } from '../parts/category-changes.ts';
import { Dialog, DialogFooter } from '../parts/dialog.tsx';
import { announce, Problem, wordsFor } from '../parts/notices.tsx';
import { hasUnchosen } from '../parts/pickers/unchosen.tsx';
import { Fields, focusProblem } from './fields.tsx';
import { FormState } from './form-state.ts';
import { isRefusal, refusalsOf, save } from './save.ts';
import { textOf } from '../api/text-of.ts';
import type { TypedFields } from './values.ts';

interface CreateProps {
  readonly target: CollectionName;
  /** What was typed. */
  readonly name: string;
  readonly initial: TypedFields;
  /** The level that a category is to have; undefined for any. */
  readonly level: number | undefined;
  readonly onClose: () => void;
  readonly onCreated: (id: number, name: string) => void;
}

/** It begins with `name` and `initial` as they are when it opens; later ones are ignored. */
export function CreateDialog(props: CreateProps) {
  const { target, name, initial, onClose } = props;
  const form = useSignal<FormState | null>(null);
  const failure = useSignal<string | null>(null);
  // What it begins with counts once: a form that is made anew would forget what is typed.
  const begin = useRef({ name, initial });
  useEffect(() => {
    const collection = collectionOf(target);
    Promise.all([schemaOf(target), needCategories()]).then(
      ([schema]) => {
        form.value = new FormState(collection, schema, null, {
          [collection.title]: begin.current.name,
          ...begin.current.initial,
        });
      },
      (error: unknown) => {
        failure.value = wordsFor(error);
      },
    );
  }, [form, failure, target]);
  return (
    <Dialog title={t(`new.${target}`)} onClose={onClose} asks>
      {failure.value !== null && (
        <div class="dialog-body">
          <Problem text={failure.value} />
        </div>
      )}
      {form.value !== null && <CreateForm {...props} form={form.value} />}
    </Dialog>
  );
}

interface FormProps extends Pick<CreateProps, 'level' | 'onClose' | 'onCreated'> {
  readonly form: FormState;
}

/** @returns null if the tree does not have the category. @throws ApiError, TypeError. */
async function levelOf(category: number): Promise<number | null> {
  await needCategories([category]);
  return chainOf(category).length || null;
}

/**
 * What is wrong with the parent of a category that is to have the level; null if nothing is. Of a
 * parent that is not known, the server says that there is none.
 *
 * @throws ApiError, TypeError.
 */
async function misplaced({ typed }: FormState, level: number | undefined): Promise<string | null> {
  const { parent_id: parent } = typed.value;
  if (level === undefined) return null;
  const above = typeof parent === 'number' ? await levelOf(parent) : 0;
  if (above === null || above === level - 1) return null;
  return level === 1 ? t('category.noParent') : t('category.parentLevel', { level: level - 1 });
}

function CreateForm({ form, level, onClose, onCreated }: FormProps) {
  const refusal = useSignal<string | null>(null);
  const root = useRef<HTMLFormElement>(null);
  const { name, title } = form.collection;
  const submit = useOneAtATime(async () => {
    refusal.value = null;
    try {
      const isValid = form.validate();
      const parent = await misplaced(form, level);
      // It was cancelled meanwhile.
      if (root.current === null) return;
      if (parent !== null) form.refused.value = { parent_id: parent };
      if (!isValid || parent !== null || hasUnchosen(root.current)) {
        requestAnimationFrame(() => focusProblem(root.current));
        return;
      }
      const { item } = await save(form);
      const label = textOf(item[title]);
      announce(t('form.saved', { name: label }));
      rememberName(name, item.id, label);
      if (name === 'categories') addCategory(item);
      onCreated(item.id, label);
      followCategories(name);
    } catch (error) {
      // Messages of the page are behind the dialog.
      const { '': rest = t('form.invalid'), ...problems } = isRefusal(error)
        ? refusalsOf(form.attributes(), error)
        : { '': wordsFor(error) };
      form.refused.value = problems;
      refusal.value = rest;
      requestAnimationFrame(() => focusProblem(root.current));
    }
  });
  return (
    <form
      ref={root}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        // The form that the dialog belongs to is not to be sent as well.
        event.stopPropagation();
        void submit();
      }}
    >
      <div class="dialog-body">
        <Problem text={refusal.value} />
        <Fields form={form} readOnly={false} prefix="create" />
      </div>
      <DialogFooter onClose={onClose} action={t('form.create')} />
    </form>
  );
}
