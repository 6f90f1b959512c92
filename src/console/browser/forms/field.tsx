/** One field of a form: label, control, help, and what is wrong with it. */
import type { ComponentChildren } from 'preact';
import { COLLECTIONS } from '../api/collections.ts';
import type { CollectionName } from '../api/types.ts';
import { loadChunk } from '../load-chunk.ts';
import { currency, t } from '../messages/text.ts';
import { attributeLabel, CATEGORY_LEVELS, helpFor } from '../parts/attributes.ts';
import { CategoryPicker } from '../parts/pickers/category-picker.tsx';
import { Combobox } from '../parts/pickers/combobox.tsx';
import { showMore } from '../parts/pickers/show-more.ts';
import { later } from '../parts/later.tsx';
import { type FormField, mustBeFilled, NO_DATE, type Typed } from './values.ts';
import { textOf } from '../api/text-of.ts';

const RichText = later(
  async () =>
    (await loadChunk(async () => await import('../parts/rich-text/rich-text.tsx'))).RichText,
);

export interface FieldProps {
  /** Of the element; labels and messages are derived from it. */
  readonly id: string;
  readonly collection: CollectionName;
  readonly field: FormField;
  readonly value: Typed;
  readonly onChange: (value: Typed) => void;
  readonly onLeave?: () => void;
  /** What is wrong; null if nothing is. */
  readonly problem?: string | null;
  readonly readOnly?: boolean;
  /** The name of the item that a reference names, if it is known. */
  readonly referenceLabel?: string | undefined;
  /** Offers to create an item that a reference is to name. */
  readonly onCreate?:
    | ((target: CollectionName, name: string, back: () => void) => void)
    | undefined;
}

/** The help and the problem describe the control, so that a screen reader tells them with it. */
export function Field(props: FieldProps) {
  const { id, collection, field, problem = null } = props;
  const { attribute, kind } = field;
  const help = helpFor(collection, attribute);
  const described = [
    ...(help === '' ? [] : [`${id}-help`]),
    ...(problem === null ? [] : [`${id}-problem`]),
    ...(kind === 'price' ? [`${id}-unit`] : []),
  ].join(' ');
  const required = mustBeFilled(field) && !props.readOnly;
  return (
    <div class={`field ${kind.replace(' ', '-')}`} onFocusOut={props.onLeave}>
      <label id={`${id}-label`} for={id} class={required ? 'required' : ''}>
        {attributeLabel(attribute)}
      </label>
      <Control {...props} described={described === '' ? undefined : described} />
      {help !== '' && (
        <p id={`${id}-help`} class="help">
          {help}
        </p>
      )}
      {problem !== null && (
        <p id={`${id}-problem`} class="problem">
          {problem}
        </p>
      )}
    </div>
  );
}

interface ControlProps extends FieldProps {
  readonly described: string | undefined;
}

function Control(props: ControlProps) {
  switch (props.field.kind) {
    case 'flag':
      return <FlagControl {...props} />;
    case 'reference':
      return <ReferenceControl {...props} />;
    case 'long text':
      return (
        <RichText
          id={props.id}
          value={textOf(props.value)}
          onChange={props.onChange}
          readOnly={props.readOnly === true}
          described={props.described}
        />
      );
    case 'price':
      return (
        <Unit id={`${props.id}-unit`}>
          <TextControl {...props} />
        </Unit>
      );
    case 'text':
    case 'integer':
    case 'date':
      return <TextControl {...props} />;
    case 'specs':
      return null;
  }
}

interface UnitProps {
  /** Of the element that names the currency, to describe the field by. */
  readonly id: string;
  /** The field. */
  readonly children: ComponentChildren;
}

/** A field for a price, and the currency beside it. */
export function Unit({ id, children }: UnitProps) {
  return (
    <span class="unit">
      {children}
      <span id={id} class="soft">
        {currency.value.code}
      </span>
    </span>
  );
}

function FlagControl({ id, value, onChange, readOnly = false, described }: ControlProps) {
  return (
    <input
      id={id}
      type="checkbox"
      checked={value === true}
      disabled={readOnly}
      aria-describedby={described}
      onChange={({ currentTarget }) => onChange(currentTarget.checked)}
    />
  );
}

function ReferenceControl(props: ControlProps) {
  const { id, collection, field, value, onChange, onCreate, readOnly = false } = props;
  const { attribute, schema } = field;
  const references: Readonly<Record<string, CollectionName>> = COLLECTIONS[collection].references;
  const target = references[attribute];
  if (target === undefined) return null;
  const given = {
    id,
    value: typeof value === 'number' ? value : null,
    onChange,
    required: schema.required,
    readOnly,
    describedBy: props.described,
    invalid: typeof props.problem === 'string',
    placeholder: schema.required ? '' : t('category.first'),
    ...(!schema.required && { none: t('category.first') }),
    ...(onCreate !== undefined && {
      onCreate: (name: string, back: () => void) => onCreate(target, name, back),
    }),
  };
  if (target === 'categories') {
    return <CategoryPicker {...given} levels={CATEGORY_LEVELS[attribute] ?? [1, 2, 3]} />;
  }
  const label = props.referenceLabel;
  return <Combobox {...given} collection={target} label={label} showMore={showMore} />;
}

const INPUT_MODES = { integer: 'numeric', price: 'decimal' } as const;

/** An event of an input. */
interface FromInput {
  readonly currentTarget: HTMLInputElement;
}

function TextControl(props: ControlProps) {
  const { id, field, value, onChange, problem = null, readOnly = false, described } = props;
  const { kind } = field;
  const take = ({ validity, value: text }: HTMLInputElement) =>
    onChange(validity.badInput ? NO_DATE : text);
  // No input event says that the parts of a date make none.
  const look = ({ currentTarget }: FromInput) => {
    if (currentTarget.validity.badInput || value === NO_DATE) take(currentTarget);
  };
  const given = {
    id,
    value: value === NO_DATE ? '' : textOf(value),
    readOnly,
    required: mustBeFilled(field),
    'aria-invalid': problem !== null,
    'aria-describedby': described,
    onInput: ({ currentTarget }: FromInput) => take(currentTarget),
    onKeyUp: look,
    onBlur: look,
  };
  if (kind === 'date') return <input type="date" autocomplete="off" {...given} />;
  const mode = kind === 'integer' || kind === 'price' ? INPUT_MODES[kind] : undefined;
  return <input type="text" inputMode={mode} autocomplete="off" {...given} />;
}
