/** Failures of a database step. The facts are fields, so that no caller has to parse a message. */
import { CatalogError } from '../errors.ts';
import type { Kind } from './kind.ts';

/** A broken reference or rule. */
export interface Violation {
  /** By its name in requests. */
  readonly attribute: string;
  /** A sentence with the value. */
  readonly message: string;
}

interface RowName {
  readonly kind: Kind;
  readonly id: number;
}

/** A row that depends on a written one. */
export interface DependentRow extends RowName {
  /** The row that it belongs to, if there is one: a client finds it there. */
  readonly owner?: RowName | undefined;
}

interface Place {
  /** The row that breaks the rule, if it is not the written row but one that depends on it. */
  readonly dependent?: DependentRow | undefined;
  /** The index of the written row among the elements of a request, if it has elements. */
  readonly element?: number | undefined;
}

/** The code `integrity`: what a transaction wrote breaks a reference or a rule. */
export class IntegrityError extends CatalogError {
  readonly violation: Violation;
  readonly dependent: DependentRow | undefined;
  readonly element: number | undefined;

  constructor(violation: Violation, { dependent, element }: Place = {}) {
    super('integrity', integrityMessage(violation, { dependent, element }));
    this.violation = violation;
    this.dependent = dependent;
    this.element = element;
  }
}

function integrityMessage({ attribute, message }: Violation, { dependent, element }: Place) {
  if (dependent === undefined) {
    return element === undefined
      ? `${attribute}: ${message}`
      : `${element}.${attribute}: ${message}`;
  }
  // The attribute is not a member of the element: another row has it.
  const begin = element === undefined ? '' : `element ${element}: `;
  const { kind, id, owner } = dependent;
  const belongs = owner === undefined ? '' : ` of ${owner.kind.label} ${owner.id}`;
  return `${begin}${attribute} of ${kind.label} ${id}${belongs}: ${message}`;
}

/** Rows of one kind that refer to a row by one attribute. */
export interface Referrers {
  readonly kind: Kind;
  /** Their attribute that holds the id. */
  readonly attribute: string;
  /** The kind of the rows that own them, such as SKUs; null if they have no owners. */
  readonly owner: Kind | null;
  /** The ids of the first of them, or of their owners if they have any; at least one, each once. */
  readonly ids: readonly number[];
  /** Whether there are more than those in `ids`. */
  readonly more: boolean;
}

/**
 * The error for a row that cannot be deleted as long as other rows refer to it.
 *
 * @param referrers an entry for each attribute by which rows refer to the row; at least one.
 */
export function referredTo({ kind, id }: RowName, referrers: readonly Referrers[]): CatalogError {
  const named = referrers.map(referrersText).join('; ');
  return new CatalogError('referred_to', `${kind.label} ${id} is referred to ${named}`);
}

function referrersText({ kind, attribute, owner, ids, more }: Referrers): string {
  const named = owner ?? kind;
  const noun = ids.length === 1 && !more ? named.label : named.plural;
  const which = owner === null ? noun : `${kind.plural} of ${noun}`;
  return `by the ${attribute} of ${which} ${ids.join(', ')}${more ? ' and others' : ''}`;
}
