/** Saves a form: one guarded write, and for a SKU the records behind its specifications. */
import { ApiError, receive, send } from '../api/client.ts';
import { change, type Changes, create, load, type Loaded } from '../api/items.ts';
import { responseName } from '../api/collections.ts';
import type { CollectionName, Item, Pair } from '../api/types.ts';
import { serverText, t } from '../messages/text.ts';
import { wordsFor } from '../parts/notices.tsx';
import type { FormState } from './form-state.ts';

/** Another user has changed the item since it was read. */
export class Conflict extends Error {
  readonly theirs: Loaded;

  constructor(theirs: Loaded) {
    super(t('conflict.title'));
    this.theirs = theirs;
  }
}

interface SpecRecord extends Pair {
  readonly id: number;
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
  try {
    if (form.collection.name === 'skus') return await saveSku(form, base);
    return await changeGuarded(form.collection.name, base, form.changes());
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 412)) throw error;
    const theirs = await load(form.collection.name, id);
    // The response to an earlier attempt was lost, or another user has done the same.
    if (form.changedFields(theirs.item).length === 0) return settled(form, theirs);
    if (differs(form, base.item, theirs.item)) throw new Conflict(theirs);
    // Only the name of something that the item refers to has changed.
    form.base.value = theirs;
    return save(form);
  }
}

/** Creates the item, or changes the one that an earlier attempt with another content has created. */
function saveNew(form: FormState): Promise<Loaded> {
  const content = { ...form.changes(), ...addedSpecs(form) };
  return form.creation.once(content, {
    create: (sent, key) => create(form.collection.name, sent, key),
    amend(made) {
      form.base.value = made;
      return save(form);
    },
  });
}

/** The item, which already is what the form says, without records that were to be replaced. */
async function settled(form: FormState, theirs: Loaded): Promise<Loaded> {
  const specs = form.changedSpecs();
  return specs.length === 0 ? theirs : removeReplaced(theirs.item.id, specs);
}

/** Whether anything that the form can write differs. */
export function differs(form: FormState, before: Item, now: Item): boolean {
  return form.fields.some(({ attribute }) => {
    const name = responseName(form.collection, attribute);
    return JSON.stringify(before[name]) !== JSON.stringify(now[name]);
  });
}

/** The elements of `specs` that a write adds. */
function addedSpecs(form: FormState): { specs?: Pair[] } {
  const specs = form
    .changedSpecs()
    .flatMap(([spec_id, option_id]) => (option_id === null ? [] : [{ spec_id, option_id }]));
  return specs.length === 0 ? {} : { specs };
}

/**
 * A write adds records and removes none. So the records that were replaced are removed afterwards;
 * but before, if the SKU moves to another SPU, whose specifications are others.
 */
async function saveSku(form: FormState, base: Loaded): Promise<Loaded> {
  const { id } = base.item;
  const changes = form.changes();
  const specs = form.changedSpecs();
  if ('spu_id' in changes && specs.length > 0) return moveSku(form, base);
  const written = { ...changes, ...addedSpecs(form) };
  const loaded = await changeGuarded('skus', base, written);
  return specs.length === 0 ? loaded : removeReplaced(id, specs);
}

type Choices = ReturnType<FormState['changedSpecs']>;

/** Removes the records that were replaced by choices. @returns the SKU as it is then. */
async function removeReplaced(id: number, choices: Choices): Promise<Loaded> {
  const wanted = new Map(choices);
  const records = await recordsOf(id);
  for (const record of records) {
    const option = wanted.get(record.spec_id);
    if (option === undefined) continue;
    const last = records.findLast(({ spec_id }) => spec_id === record.spec_id);
    if (option !== record.option_id || record !== last) await removeRecord(id, record);
  }
  return load('skus', id);
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

async function moveSku(form: FormState, base: Loaded): Promise<Loaded> {
  const { id } = base.item;
  await unchanged('skus', base);
  const records = await recordsOf(id);
  for (const record of records) await removeRecord(id, record);
  try {
    const { etag } = await load('skus', id);
    return await change('skus', id, { ...form.changes(), ...addedSpecs(form) }, etag);
  } catch (error) {
    for (const { spec_id, option_id } of records) {
      await send(`/admin/skus/${id}/specs/`, { method: 'POST', body: { spec_id, option_id } });
    }
    throw error;
  }
}

function recordsOf(id: number): Promise<SpecRecord[]> {
  return receive(`/admin/skus/${id}/specs/?per_page=1000`);
}

async function removeRecord(id: number, record: SpecRecord): Promise<void> {
  await send(`/admin/skus/${id}/specs/${record.id}/`, { method: 'DELETE' });
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
    const [attribute = ''] = path.split('.');
    found[names.includes(attribute) ? attribute : ''] = text;
  };
  for (const [path, texts] of Object.entries(error.fields))
    add(path, texts.map(serverText).join('; '));
  const [, attribute, text = ''] = DATABASE_ERROR.exec(error.message) ?? [];
  if (attribute !== undefined) add(attribute, serverText(text));
  if (Object.keys(found).length === 0) found[''] = wordsFor(error);
  return found;
}
