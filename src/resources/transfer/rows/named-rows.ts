/** The rows that names in cells stand for; missing ones can be created (spec 12.9). */
import type { KindName } from '../../../model/kind.ts';
import { KINDS, TRANSFERABLE } from '../../../model/kinds.ts';
import { namingOf } from '../../../model/relations.ts';
import { atOnce } from '../../../slices.ts';
import type { Transaction } from '../../../store/writer/draft.ts';
import { parseInput } from '../../input.ts';
import { insertUnseen } from '../../rows.ts';
import { LabelError } from '../labels.ts';
import { MAX_NAMED, type Names } from './names.ts';

/** Kinds whose missing rows can be created. */
export const CREATABLE: readonly KindName[] = TRANSFERABLE.flatMap(({ name, naming }) =>
  naming?.creatable === true ? [name] : [],
);

/** @returns the kinds in a list with commas; null if one of them is not {@link CREATABLE}. */
export function parseCreatable(text: string): ReadonlySet<string> | null {
  const names = text.split(',');
  const areKnown = names.every((name) => CREATABLE.some((each) => each === name));
  return areKnown ? new Set(names) : null;
}

/** A row that was created because no row had the name. */
export interface CreatedMissing {
  readonly resource: KindName;
  readonly id: number;
  readonly name: string;
}

const NONE: readonly CreatedMissing[] = [];

export class NamedRows {
  readonly #transaction: Transaction;
  readonly #names: Names;
  readonly #createMissing: ReadonlySet<string>;
  #created: CreatedMissing[] = [];

  constructor(transaction: Transaction, names: Names, createMissing: ReadonlySet<string>) {
    this.#transaction = transaction;
    this.#names = names;
    this.#createMissing = createMissing;
  }

  /** The number of rows that were created since {@link NamedRows.takeCreated}. */
  get created(): number {
    return this.#created.length;
  }

  /** @returns what was created since the last call. */
  takeCreated(): readonly CreatedMissing[] {
    // Not the empty list itself, which later rows add to.
    if (this.#created.length === 0) return NONE;
    const created = this.#created;
    this.#created = [];
    return created;
  }

  /**
   * The id of the row that has a name.
   *
   * @param ids of the rows that have it. @param parent gives the row that a new one is within.
   * @throws LabelError, CatalogError.
   */
  one(kind: KindName, name: string, ids: readonly number[], parent: () => number | null): number {
    const [id, ...others] = ids;
    if (id === undefined) return this.#create(kind, name, parent);
    if (others.length === 0) return id;
    throw ambiguous(kind, ids, 'give the id');
  }

  #create(resource: KindName, name: string, parent: () => number | null): number {
    if (!this.#createMissing.has(resource)) throw missing(resource, name);
    const kind = KINDS[resource];
    const { attribute, within } = namingOf(resource);
    const place = within === undefined ? {} : { [within]: parent() };
    const input = atOnce(parseInput(kind, { [attribute]: name, ...place }, 'whole'));
    const created = atOnce(insertUnseen(this.#transaction, kind, input));
    this.#names.add(resource, created);
    this.#created.push({ resource, id: created.id, name });
    return created.id;
  }
}

/** The problem of a name that no row has. */
export function missing(kind: KindName, name: string): LabelError {
  return new LabelError(`there is no ${KINDS[kind].label} ${JSON.stringify(name)}`);
}

/** The problem of a name that several rows have. */
export function ambiguous(kind: KindName, ids: readonly number[], advice: string): LabelError {
  const named = ids.slice(0, MAX_NAMED).join(', ');
  return new LabelError(`${KINDS[kind].plural} ${named} have this name; ${advice}`);
}
