/** What a bulk edit is to do. */
import { type Signal, useSignal } from '@preact/signals';
import type { Collection } from '../../api/collections.ts';
import { fieldKindOf, type Schema } from '../../api/schema.ts';
import { Field } from '../../forms/field.tsx';
import { focusProblem } from '../../forms/fields.tsx';
import { type FormField, initialOf, judge, type Typed } from '../../forms/values.ts';
import { currency, formatPrice, t } from '../../messages/text.ts';
import { attributeLabel } from '../../parts/attributes.ts';
import { DialogStatus } from '../../parts/dialog.tsx';
import { hasUnchosen } from '../../parts/pickers/unchosen.tsx';
import { type Operation, parsePercent, type Rounding } from './changes.ts';

export interface Offer {
  readonly key: string;
  readonly label: string;
  /** The field whose value is set; null for a percentage. */
  readonly field: FormField | null;
  readonly attribute: string;
  /** The value that is set, if there is no choice. */
  readonly fixed?: boolean;
}

/** A unique attribute, and what the third category of an SPU decides (spec 13.5). */
const NOT_OFFERED = new Set(['code', 'category1_id', 'category2_id']);

/** What can be done with items of a collection. */
export function offersFor(collection: Collection, schema: Schema): Offer[] {
  const fields = Object.entries(schema)
    .map(([attribute, described]) => ({
      attribute,
      kind: fieldKindOf(collection.name, attribute, described),
      schema: described,
    }))
    .filter(
      ({ attribute, kind }) => kind !== 'specs' && kind !== 'flag' && !NOT_OFFERED.has(attribute),
    );
  const percent = fields
    .filter(({ kind }) => kind === 'price')
    .map(({ attribute }) => ({
      key: `percent ${attribute}`,
      label: t('bulk.percent', { label: attributeLabel(attribute) }),
      attribute,
      field: null,
    }));
  const launch = collection.name === 'skus' ? [launchOffer(true), launchOffer(false)] : [];
  const set = fields.map((field) => ({
    key: `set ${field.attribute}`,
    label: t('bulk.set', { label: attributeLabel(field.attribute) }),
    attribute: field.attribute,
    field,
  }));
  return [...launch, ...percent, ...set];
}

function launchOffer(fixed: boolean): Offer {
  const label = t(fixed ? 'bulk.launch' : 'bulk.takeOff');
  return { key: String(fixed), label, attribute: 'is_launched', field: null, fixed };
}

/** What is entered into the form. */
export interface Entered {
  /** Of the offer that is chosen; "" for the first. */
  readonly key: string;
  /** Undefined until the user changes the value that the field starts with. */
  readonly typed: Typed | undefined;
  readonly percent: string;
  /** The position of the rounding that is chosen. */
  readonly rounding: string;
}

/** Before the user has entered anything. */
export const NOTHING_ENTERED: Entered = { key: '', typed: undefined, percent: '', rounding: '0' };

interface FormProps {
  readonly collection: Collection;
  readonly offers: readonly Offer[];
  /** Kept by the dialog, so that "Back" leads to what was entered. */
  readonly entered: Signal<Entered>;
  readonly busy: boolean;
  readonly onPlan: (operation: Operation) => Promise<void>;
}

/** It calls `onPlan` with an operation whose values are valid, and writes nothing. */
export function OperationForm({ collection, offers, entered, busy, onPlan }: FormProps) {
  const { key, typed, percent, rounding } = entered.value;
  const problem = useSignal<string | null>(null);
  const offer = offers.find((each) => each.key === key) ?? offers[0];
  if (offer === undefined) return <p class="soft">{t('loading')}</p>;
  const { field } = offer;
  const value = typed ?? (field === null ? '' : initialOf(field));
  const enter = (changes: Partial<Entered>) => {
    entered.value = { ...entered.value, ...changes };
  };
  const submit = (form: HTMLFormElement) => {
    const judged = operationOf(offer, value, percent, Number(rounding));
    problem.value = typeof judged === 'string' ? judged : null;
    if (typeof judged === 'string') requestAnimationFrame(() => focusProblem(form));
    else void onPlan(judged);
  };
  return (
    <form
      noValidate
      class="fields"
      onSubmit={(event) => {
        event.preventDefault();
        if (hasUnchosen(event.currentTarget)) focusProblem(event.currentTarget);
        else submit(event.currentTarget);
      }}
    >
      <div class="field">
        <label for="bulk-operation">{t('bulk.operation')}</label>
        <select
          id="bulk-operation"
          value={offer.key}
          onChange={({ currentTarget }) => {
            enter({ key: currentTarget.value, typed: undefined });
            problem.value = null;
          }}
        >
          {offers.map((each) => (
            <option key={each.key} value={each.key}>
              {each.label}
            </option>
          ))}
        </select>
      </div>
      {field !== null && (
        <Field
          // What is typed into a picker of brands is not meant for one of SPUs.
          key={offer.key}
          id="bulk-value"
          collection={collection.name}
          field={field}
          value={value}
          problem={problem.value}
          onChange={(next) => enter({ typed: next })}
        />
      )}
      {field === null && offer.fixed === undefined && (
        <PercentFields {...{ percent, rounding, enter }} problem={problem.value} />
      )}
      <div class="planning">
        {/* A button that is disabled would lose the focus. */}
        <button type="submit" class="primary" aria-disabled={busy}>
          {t('bulk.show')}
        </button>
        <DialogStatus text={busy && t('loading')} />
      </div>
    </form>
  );
}

/** @returns what is wrong, if something is. */
function operationOf(
  { attribute, field, fixed }: Offer,
  typed: Typed,
  percent: string,
  rounding: number,
): Operation | string {
  if (fixed !== undefined) return { kind: 'set', attribute, value: fixed };
  if (field !== null) {
    const judged = judge(field, typed);
    return 'problem' in judged ? judged.problem : { kind: 'set', attribute, value: judged.value };
  }
  const hundredths = parsePercent(percent);
  if (hundredths === null || hundredths < -10_000) return t('bulk.percentProblem');
  const chosen = roundings()[rounding] ?? { step: 1, minus: 0 };
  return { kind: 'percent', attribute, hundredths, rounding: chosen };
}

/** From the smallest unit up to a whole one, and prices that end in 99. */
function roundings(): Rounding[] {
  const { digits } = currency.value;
  const one = 10 ** digits;
  const steps = digits === 2 ? [1, 5, 10, 50, one] : [1, 10, 100];
  const plain = steps.map((step) => ({ step, minus: 0 }));
  return digits === 2 ? [...plain, { step: one, minus: 1 }] : plain;
}

interface PercentProps {
  readonly percent: string;
  readonly rounding: string;
  readonly enter: (changes: Partial<Entered>) => void;
  readonly problem: string | null;
}

function PercentFields({ percent, rounding, enter, problem }: PercentProps) {
  return (
    <>
      <div class="field">
        <label for="bulk-percent">{t('bulk.percentLabel')}</label>
        <input
          id="bulk-percent"
          inputMode="decimal"
          autocomplete="off"
          value={percent}
          aria-invalid={problem !== null}
          aria-describedby="bulk-percent-help"
          onInput={({ currentTarget }) => enter({ percent: currentTarget.value })}
        />
        <p id="bulk-percent-help" class={problem === null ? 'help' : 'problem'}>
          {problem ?? t('bulk.percentHelp')}
        </p>
      </div>
      <div class="field">
        <label for="bulk-rounding">{t('bulk.rounding')}</label>
        <select
          id="bulk-rounding"
          value={rounding}
          onChange={({ currentTarget }) => enter({ rounding: currentTarget.value })}
        >
          {roundings().map(({ step, minus }, at) => (
            <option key={`${step} ${minus}`} value={String(at)}>
              {minus === 0
                ? t('bulk.roundTo', { step: formatPrice(step) })
                : t('bulk.roundEnd', { step: formatPrice(step - minus) })}
            </option>
          ))}
        </select>
      </div>
    </>
  );
}
