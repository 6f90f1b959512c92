/** Saves a form by one guarded write. */
import { ApiError, isLost } from '../api/client.ts';
import { change, type Changes, create, load, type Loaded } from '../api/items.ts';
import { responseName } from '../api/collections.ts';
import type { CollectionName, Item, Pair } from '../api/types.ts';
import { serverText, t } from '../messages/text.ts';
import { wordsFor } from '../parts/notices.tsx';
import type { FormState } from './form-state.ts';
import type { Choice, FormField } from './values.ts';

/** Another user has changed the item since it was read. */
export class Conflict extends Error {
  readonly theirs: Loaded;

  constructor(theirs: Loaded) {
    super(t('conflict.title'));
    this.theirs = theirs;
  }
}

/**
 * Writes what has changed.
 *
 * @throws Conflict, ApiError, TypeError.
 */
export async function save(form: FormState): Promise<Loaded> {
  const base = form.base.value;
  if (base === null) return saveNew(form);
  const { id } = base.item;
  const sent = form.typed.value;
  try {
    const changes = { ...form.changes(), ...replacedSpecs(form, base) };
    return await changeGuarded(form.collection.name, base, changes);
  } catch (error) {
    if (isLost(error)) form.unanswered.value = [...form.unanswered.value, sent];
    if (!(error instanceof ApiError && error.status === 412)) throw error;
    const theirs = await load(form.collection.name, id);
    // The response to an earlier attempt was lost, or another user has done the same.
    if (form.changedFields(theirs.item).length === 0) return theirs;
    const others = form
      .changedFields(theirs.item)
      .filter((field) => differs(form, base.item, theirs.item, [field]))
      .filter((field) => !isOwn(form, field, theirs.item));
    if (others.length > 0) throw new Conflict(theirs);
    // Only the name of something that the item refers to has changed, or what is sent again.
    form.base.value = theirs;
    return save(form);
  }
}

/** Whether a field was changed by an attempt of the form without an answer, and is typed anew since. */
export function isOwn(form: FormState, field: FormField, now: Item): boolean {
  const before = form.base.value?.item;
  if (before === undefined || !differs(form, before, now, [field])) return false;
  return form.unanswered.value.some((sent) => !form.changedFields(now, sent).includes(field));
}

/** Creates the item, or changes the one that an earlier attempt with another content has created. */
function saveNew(form: FormState): Promise<Loaded> {
  const content = { ...form.changes(), ...chosenSpecs(form) };
  return form.creation.once(content, {
    create: (sent, key) => create(form.collection.name, sent, key),
    amend(made) {
      form.base.value = made;
      return save(form);
    },
  });
}

/** Shows an item as it is now, unless that would take what is unsaved. */
export function showNow(form: FormState, now: Loaded): void {
  if (form.dirty.value) return;
  form.rebase(now, form.typed.value);
  form.discard();
}

/** Whether anything that the form can write differs. @param fields all of the form if left out. */
export function differs(form: FormState, before: Item, now: Item, fields = form.fields): boolean {
  return fields.some(({ attribute }) => {
    const name = responseName(form.collection, attribute);
    return JSON.stringify(before[name]) !== JSON.stringify(now[name]);
  });
}

/** What is chosen among the specifications of a new SKU. */
function chosenSpecs(form: FormState): { specs?: Pair[] } {
  const specs = form.changedSpecs().flatMap(pairOf);
  return specs.length === 0 ? {} : { specs };
}

function pairOf([spec_id, option_id]: Choice): Pair[] {
  return option_id === null ? [] : [{ spec_id, option_id }];
}

/**
 * All specifications of a SKU, if some were changed: a change replaces them. If a specification that
 * was not changed has several records, they stay.
 */
function replacedSpecs(form: FormState, { item }: Loaded): { specs?: Pair[] } {
  const choices = form.changedSpecs();
  if (choices.length === 0) return {};
  const changed = new Set(choices.map(([spec]) => spec));
  const before = item['specs'] as unknown as readonly Pair[];
  const kept = before.filter(({ spec_id }) => !changed.has(spec_id));
  return { specs: [...kept, ...choices.flatMap(pairOf)] };
}

/** An empty change is not written: it would be an entry in the audit trail. @throws ApiError `412`. */
function changeGuarded(name: CollectionName, base: Loaded, changes: Changes): Promise<Loaded> {
  return Object.keys(changes).length > 0
    ? change(name, base.item.id, changes, base.etag)
    : unchanged(name, base);
}

/** @throws ApiError `412` if the item has changed. */
async function unchanged(name: CollectionName, base: Loaded): Promise<Loaded> {
  const now = await load(name, base.item.id);
  if (now.etag !== base.etag) throw new ApiError(412, '');
  return now;
}

/** Whether a failure says what is wrong with the values that were sent. */
export function isRefusal(error: unknown): error is ApiError {
  return error instanceof ApiError && [400, 409, 413, 422].includes(error.status);
}

const DATABASE_ERROR = /^database error: (?:\d+\.)?(\w+): (.*)$/s;

/**
 * What the server refused, by attribute; "" for what belongs to none of the form.
 *
 * @param names the attributes that the form has.
 */
export function refusalsOf(names: readonly string[], error: ApiError): Record<string, string> {
  const found: Record<string, string> = {};
  const add = (path: string, text: string) => {
    const [first = ''] = path.split('.');
    // Of a specification record of a SKU.
    const isOfRecord = names.includes('specs') && /^(?:spec|option)_id$/.test(first);
    const attribute = isOfRecord ? 'specs' : first;
    found[names.includes(attribute) ? attribute : ''] = text;
  };
  for (const [path, texts] of Object.entries(error.fields))
    add(path, texts.map(serverText).join('; '));
  const [, attribute, text = ''] = DATABASE_ERROR.exec(error.message) ?? [];
  if (attribute !== undefined) add(attribute, serverText(text));
  if (Object.keys(found).length === 0) found[''] = wordsFor(error);
  return found;
}
