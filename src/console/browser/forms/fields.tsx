/** The fields of a form, in the order of the schema. */
import { responseName } from '../api/collections.ts';
import type { CollectionName } from '../api/types.ts';
import { Field } from './field.tsx';
import type { FormState } from './form-state.ts';
import { SkuSpecs } from './sku-specs.tsx';
import type { Chosen, FormField, Typed } from './values.ts';

interface FieldsProps {
  readonly form: FormState;
  readonly readOnly: boolean;
  /** Before the ids of elements, so that two forms can be on one page. */
  readonly prefix?: string;
  /** Offers to create what a reference needs. */
  readonly onMissing?: ((missing: Missing) => void) | undefined;
}

/** An item that a reference is to name, and that does not exist yet. */
export interface Missing {
  readonly attribute: string;
  readonly target: CollectionName;
  readonly name: string;
  /** Puts what was typed back into the field. */
  readonly back: () => void;
}

/** The `prefix` keeps ids apart if two forms are on the page. */
export function Fields({ form, readOnly, prefix = 'field', onMissing }: FieldsProps) {
  return (
    <div class="fields">
      {form.fields.map((field) => (
        <FormRow key={field.attribute} {...{ form, readOnly, prefix, field, onMissing }} />
      ))}
    </div>
  );
}

/** Moves the focus to the first field that is not right, so that it is in sight. */
export function focusProblem(root: HTMLElement | null): void {
  const wrong = '[aria-invalid=true], [data-unchosen=true]';
  const field = root?.querySelector<HTMLElement>(wrong);
  field?.focus();
  // What is wrong is said below the field, where the bar with the buttons may cover it.
  field?.closest('.field')?.scrollIntoView({ block: 'center' });
}

interface RowProps extends FieldsProps {
  readonly prefix: string;
  readonly field: FormField;
}

function FormRow({ form, readOnly, prefix, field, onMissing }: RowProps) {
  const { attribute } = field;
  const typed = form.typed.value[attribute] ?? null;
  const { spu_id: spu = null } = form.typed.value;
  const id = `${prefix}-${attribute}`;
  const problem = form.problems.value[attribute];
  const shown =
    problem !== undefined &&
    (form.touched.value.has(attribute) || form.refused.value[attribute] !== undefined);
  if (field.kind === 'specs') {
    return (
      <SkuSpecs
        id={id}
        spu={typeof spu === 'number' ? spu : null}
        chosen={(typed ?? {}) as Chosen}
        onChange={(next) => form.set(attribute, next)}
        problem={problem ?? null}
        readOnly={readOnly}
      />
    );
  }
  return (
    <Field
      id={id}
      collection={form.collection.name}
      field={field}
      value={typed}
      onChange={(value) => form.set(attribute, value)}
      onLeave={() => {
        if (form.dirty.value) form.touch(attribute);
      }}
      problem={shown ? problem : null}
      referenceLabel={labelIn(form, attribute, typed)}
      readOnly={readOnly}
      onCreate={
        readOnly || onMissing === undefined
          ? undefined
          : (target, name, back) => onMissing({ attribute, target, name, back })
      }
    />
  );
}

/** The name of what a reference names, if the item carries it: `brand` beside `brand_id`. */
function labelIn(form: FormState, attribute: string, typed: Typed): string | undefined {
  const item = form.base.value?.item;
  const name = responseName(form.collection, attribute);
  if (item === undefined || !name.endsWith('_id') || item[name] !== typed) return undefined;
  const label = item[name.slice(0, -'_id'.length)];
  return typeof label === 'string' ? label : undefined;
}
