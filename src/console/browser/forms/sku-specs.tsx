/** The specifications of a SKU: one choice for each specification of its SPU. */
import { useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { Item } from '../api/types.ts';
import { href } from '../location.ts';
import { t } from '../messages/text.ts';
import { helpFor } from '../parts/attributes.ts';
import { Failure } from '../parts/notices.tsx';
import { useReading } from '../parts/use-reading.ts';
import { AddText } from './spu/add-text.tsx';
import { readSpecs, type SpecChoices } from './spu/specs.ts';
import type { Chosen } from './values.ts';
import { textOf } from '../api/text-of.ts';

interface SkuSpecsProps {
  readonly id: string;
  /** The SPU that the form names; null if none is. */
  readonly spu: number | null;
  readonly chosen: Chosen;
  readonly onChange: (chosen: Chosen) => void;
  readonly problem: string | null;
  readonly readOnly: boolean;
}

interface Choices {
  readonly spu: number;
  readonly choices: readonly SpecChoices[];
}

/** @returns null if no SPU is chosen. @throws ApiError, TypeError. */
async function readChoices(spu: number | null, signal: AbortSignal): Promise<Choices | null> {
  return spu === null ? null : { spu, choices: await readSpecs(spu, signal) };
}

/** Choices among specifications of another SPU are dropped when those of this SPU are known. */
export function SkuSpecs({ id, spu, chosen, onChange, problem, readOnly }: SkuSpecsProps) {
  const { found, failure, reload } = useReading((signal) => readChoices(spu, signal), [spu]);
  // A new option is chosen when it is created, and others may be chosen until then.
  const latest = useRef(chosen);
  latest.current = chosen;
  // What was read when the choices were refused does not tell why.
  const refused = useRef({ problem, found: found.value });
  if (refused.current.problem !== problem) refused.current = { problem, found: found.value };
  // What was refused may have been deleted by another user.
  useEffect(() => {
    if (problem !== null) reload();
  }, [problem]);
  // Until they are read again, those of another SPU say nothing about what is chosen.
  const known = found.value?.spu === spu ? found.value.choices : null;
  // At once: what the user has discarded before the next frame would come back.
  useLayoutEffect(() => {
    // Choices of another SPU's specifications do not move along.
    if (known === null || readOnly) return;
    const own = new Set(known.map((each) => String(each.id)));
    const foreign = Object.entries(chosen).filter(
      ([spec, option]) => option !== null && !own.has(spec),
    );
    if (foreign.length === 0) return;
    onChange({ ...chosen, ...Object.fromEntries(foreign.map(([spec]) => [spec, null])) });
  }, [known, chosen, onChange, readOnly]);
  const isReadSince = problem !== null && found.value !== refused.current.found;
  // Until each of them is corrected: the correction of one ends the problem of all.
  const deleted = useRef<ReadonlySet<number>>(new Set());
  if (isReadSince) deleted.current = new Set(known?.flatMap((each) => missingOf(each, chosen)));
  const isDeleted = (spec: SpecChoices) =>
    missingOf(spec, chosen).some((option) => deleted.current.has(option));
  const isUnexplained = problem !== null && known?.some(isDeleted) !== true;
  const described = isUnexplained ? `${id}-help ${id}-problem` : `${id}-help`;
  return (
    <fieldset class="field specs" aria-describedby={described}>
      <legend>{t('attribute.specs')}</legend>
      <p id={`${id}-help`} class="help">
        {helpFor('skus', 'specs')}
      </p>
      {spu === null && <p class="soft">{t('specs.chooseSpu')}</p>}
      <Failure text={failure.value} onAgain={reload} />
      {spu !== null && known === null && failure.value === null && (
        <p class="soft">{t('loading')}</p>
      )}
      {known?.length === 0 && (
        <p class="soft">
          {t('specs.none')} <a href={href(`/goods/${spu}`)}>{t('specs.openSpu')}</a>
        </p>
      )}
      {known?.map((spec) => (
        <SpecChoice
          key={spec.id}
          id={`${id}-${spec.id}`}
          spec={spec}
          option={chosen[spec.id] ?? null}
          readOnly={readOnly}
          isRefused={isUnexplained || isDeleted(spec)}
          problem={isDeleted(spec) ? t('specs.gone', { name: spec.name }) : null}
          onChange={(option) => onChange({ ...latest.current, [spec.id]: option })}
          onGone={reload}
        />
      ))}
      {isUnexplained && (
        <p id={`${id}-problem`} class="problem">
          {problem}
        </p>
      )}
    </fieldset>
  );
}

/** The option that is chosen, if the specification does not have it. */
function missingOf({ id, options }: SpecChoices, chosen: Chosen): number[] {
  const option = chosen[id] ?? null;
  return option === null || options.some((each) => each.id === option) ? [] : [option];
}

interface SpecChoiceProps {
  readonly id: string;
  readonly spec: SpecChoices;
  readonly option: number | null;
  readonly readOnly: boolean;
  /** Whether the server has refused what is chosen here, or in one of the specifications. */
  readonly isRefused: boolean;
  /** What is wrong with this choice; null if nothing is known. */
  readonly problem: string | null;
  readonly onChange: (option: number | null) => void;
  /** Another user has deleted the specification. */
  readonly onGone: () => void;
}

/**
 * A save that fails leads to the first choice, before it is known which one is wrong. The user may
 * have gone on from there since then.
 */
function focusInstead(wrong: HTMLElement | null): void {
  const first = wrong?.closest('fieldset')?.querySelector('select');
  if (first === document.activeElement && first?.ariaInvalid === 'false') wrong?.focus();
}

function Wrong({ id, problem }: { readonly id: string; readonly problem: string | null }) {
  if (problem === null) return null;
  return (
    <p id={id} role="alert" class="problem">
      {problem}
    </p>
  );
}

function SpecChoice(props: SpecChoiceProps) {
  const { id, spec, option, readOnly, isRefused, problem, onChange, onGone } = props;
  const adding = useSignal(false);
  const added = useSignal<readonly { readonly id: number; readonly value: string }[]>([]);
  const choice = useRef<HTMLDivElement>(null);
  const select = useRef<HTMLSelectElement>(null);
  useLayoutEffect(() => {
    if (problem !== null) focusInstead(select.current);
  }, [problem]);
  // Those that were added may be read with the others since then.
  const read = new Set(spec.options.map((each) => each.id));
  const options = [...spec.options, ...added.value.filter((each) => !read.has(each.id))];
  return (
    <div ref={choice}>
      <label id={`${id}-label`} for={id}>
        {spec.name}
      </label>
      <select
        ref={select}
        id={id}
        value={option === null ? '' : String(option)}
        disabled={readOnly}
        aria-invalid={isRefused}
        aria-describedby={problem === null ? undefined : `${id}-problem`}
        onChange={({ currentTarget }) => {
          onChange(currentTarget.value === '' ? null : Number(currentTarget.value));
        }}
      >
        <option value="">{t('specs.noChoice')}</option>
        {options.map((each) => (
          <option key={each.id} value={String(each.id)}>
            {each.value}
          </option>
        ))}
      </select>
      <Wrong id={`${id}-problem`} problem={problem} />
      {/* Not one of the choices: the arrow keys, which try them one by one, would choose it too. */}
      {!readOnly && !adding.value && (
        <button
          type="button"
          class="plain"
          aria-describedby={`${id}-label`}
          onClick={() => {
            adding.value = true;
          }}
        >
          {t('specs.addOption')}
        </button>
      )}
      {adding.value && (
        <NewOption
          spec={spec}
          existing={options.map(({ value }) => value)}
          onGone={onGone}
          onAdded={({ id: newId, value }, isLast) => {
            added.value = [...added.value, { id: newId, value: textOf(value) }];
            onChange(newId);
            if (!isLast) return;
            // The field is removed, and must not take the focus with it.
            if (choice.current?.contains(document.activeElement)) select.current?.focus();
            adding.value = false;
          }}
        />
      )}
    </div>
  );
}

interface NewOptionProps extends Pick<SpecChoiceProps, 'spec' | 'onGone'> {
  readonly existing: readonly string[];
  readonly onAdded: (item: Item, isLast: boolean) => void;
}

function NewOption({ spec, ...handlers }: NewOptionProps) {
  return (
    <AddText
      focused
      label={t('specs.newOption', { name: spec.name })}
      action={t('specs.add')}
      collection="options"
      parent={['specs', spec.id]}
      contentOf={(value) => ({ value, spec_id: spec.id })}
      {...handlers}
    />
  );
}
