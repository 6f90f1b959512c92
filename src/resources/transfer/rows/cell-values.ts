/** The values that cells stand for which name no row (spec 12.9). */
import * as v from 'valibot';
import type { Kind, Scalar } from '../../../model/kind.ts';
import type { Money } from '../../../model/money.ts';
import { price } from '../../../model/schemas.ts';
import { LabelError } from '../labels.ts';

/** The integer of a decimal. @throws LabelError. */
export function amountOf(text: string, money: Money): number {
  const amount = money.parse(text);
  if (amount !== null) return amount;
  if (text === '') throw new LabelError('must not be empty');
  const places = money.digits === 0 ? 'no decimals' : `at most ${money.digits} decimals after "."`;
  throw new LabelError(`must be an amount in ${money.currency}: digits, with ${places}`);
}

/** The types that a schema accepts besides text. */
interface Types {
  readonly null: boolean;
  readonly number: boolean;
  readonly boolean: boolean;
}

const types = new WeakMap<object, Types>();

/** The types that a schema accepts, computed once: they are needed for each cell. */
function typesOf(schema: v.GenericSchema): Types {
  let known = types.get(schema);
  if (known === undefined) {
    const takes = (value: Scalar) => v.is(schema, value);
    known = { null: takes(null), number: takes(1), boolean: takes(true) };
    types.set(schema, known);
  }
  return known;
}

/**
 * The value of an attribute, of the type that its schema accepts.
 *
 * @param money which a message about a price names. @throws LabelError.
 */
export function plainValue(text: string, kind: Kind, attribute: string, money: Money): Scalar {
  const declared = kind.attributes[attribute];
  if (declared?.role !== 'input') throw new Error(`${kind.name} are not sent with ${attribute}`);
  const takes = typesOf(declared.schema);
  if (text === '' && takes.null) return null;
  if (takes.number) {
    if (text === '') throw new LabelError('must not be empty');
    if (/^\d+$/.test(text)) return Number(text);
    const hint =
      declared.schema === price ? `; for decimals name it "${attribute} ${money.currency}"` : '';
    throw new LabelError(`must be a whole number in digits${hint}`);
  }
  if (!takes.boolean) return text;
  if (/^(?:true|TRUE)$/.test(text)) return true;
  if (/^(?:false|FALSE)$/.test(text)) return false;
  throw new LabelError('must be true or false');
}
