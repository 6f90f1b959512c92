/** The SKUs of an SPU: one row for each combination of options, and the missing ones to create. */
import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { CreationKey } from '../../api/creation-key.ts';
import { mayWrite } from '../../api/session.ts';
import type { Item } from '../../api/types.ts';
import { href } from '../../location.ts';
import {
  formatNumber,
  formatPrice,
  numberProblem,
  parsePrice,
  parseWhole,
  priceExample,
  t,
} from '../../messages/text.ts';
import { useOneAtATime } from '../../one-at-a-time.ts';
import { attributeLabel } from '../../parts/attributes.ts';
import { DataTable } from '../../parts/data-table.tsx';
import { Dialog, DialogFooter, useComplaint } from '../../parts/dialog.tsx';
import { announce, complain, Problem, wordsFor } from '../../parts/notices.tsx';
import { Unit } from '../field.tsx';
import { focusProblem } from '../fields.tsx';
import {
  type Combination,
  combinationsOf,
  type Common,
  countCombinations,
  MAX_COMBINATIONS,
  othersOf,
} from './combinations.ts';
import { countTaken, createSkus } from './create-skus.ts';
import type { Parts } from './parts.ts';
import { textOf } from '../../api/text-of.ts';

/** With more than {@link MAX_COMBINATIONS} combinations, it lists only the SKUs that there are. */
export function Matrix(parts: Parts) {
  const { spu, specs, skus } = parts;
  const count = countCombinations(specs);
  const combinations = count > MAX_COMBINATIONS ? [] : combinationsOf(specs, skus);
  const missing = combinations.filter((each) => each.skus.length === 0);
  const others = othersOf(combinations, skus);
  const creating = useSignal(false);
  const heading = useRef<HTMLHeadingElement>(null);
  const created = useRef(false);
  useLayoutEffect(() => {
    // The button is removed when it has done its work.
    if (created.current && document.activeElement === document.body) heading.current?.focus();
    created.current = false;
  }, [missing.length]);
  return (
    <section aria-labelledby="spu-skus">
      <div class="heading">
        <h2 ref={heading} id="spu-skus" tabIndex={-1}>
          {t('collection.skus')}
        </h2>
        {mayWrite.value && (
          <div class="actions">
            {missing.length > 0 && (
              <button
                type="button"
                onClick={() => {
                  creating.value = true;
                }}
              >
                {t('spu.createMissing', { count: missing.length })}
              </button>
            )}
            <a
              class="button"
              href={href(`/skus/new?spu_id=${spu.id}&category_id=${textOf(spu['category3_id'])}`)}
            >
              {t('spu.newSku')}
            </a>
          </div>
        )}
      </div>
      {count > MAX_COMBINATIONS && <p class="soft">{t('spu.tooMany', { count })}</p>}
      {combinations.length + others.length > 0 && (
        <MatrixTable combinations={combinations} others={others} />
      )}
      {creating.value && (
        <CreateMissing
          {...parts}
          missing={missing}
          onCreated={() => {
            created.current = true;
          }}
          onClose={() => {
            creating.value = false;
          }}
        />
      )}
    </section>
  );
}

interface TableProps {
  readonly combinations: readonly Combination[];
  readonly others: readonly Item[];
}

function MatrixTable({ combinations, others }: TableProps) {
  return (
    <DataTable
      label={t('spu.matrix')}
      columns={[
        t('spu.combination'),
        t('spu.sku'),
        { number: attributeLabel('price') },
        { number: attributeLabel('stock') },
        attributeLabel('is_launched'),
      ]}
    >
      {combinations.map(({ key, label, skus }) =>
        skus.length === 0 ? (
          <tr key={key} class="missing">
            <th scope="row">{label}</th>
            <td colSpan={4} class="soft">
              {t('spu.missing')}
            </td>
          </tr>
        ) : (
          skus.map((sku) => <SkuRow key={sku.id} label={label} sku={sku} />)
        ),
      )}
      {others.map((sku) => (
        <SkuRow key={sku.id} label="–" sku={sku} />
      ))}
    </DataTable>
  );
}

function SkuRow({ label, sku }: { readonly label: string; readonly sku: Item }) {
  return (
    <tr>
      <th scope="row">{label}</th>
      <td>
        <a href={href(`/skus/${sku.id}`)}>{textOf(sku['name'])}</a>
      </td>
      <td class="number">{formatPrice(Number(sku['price']))}</td>
      <td class="number">{formatNumber(Number(sku['stock']))}</td>
      <td>{t(sku['is_launched'] === true ? 'yes' : 'no')}</td>
    </tr>
  );
}

const PRICES = ['price', 'cost_price', 'market_price'] as const;

interface CreateProps extends Parts {
  readonly missing: readonly Combination[];
  readonly onCreated: () => void;
  readonly onClose: () => void;
}

const NUMBERS = [...PRICES, 'stock'] as const;

type Numbers = Record<(typeof NUMBERS)[number], number | null>;

/** What is typed; null for what is not a number, or not a price. */
function numbersOf(form: FormData): Numbers {
  const entries = NUMBERS.map((name) => {
    const text = textOf(form.get(name));
    return [name, name === 'stock' ? parseWhole(text) : parsePrice(text)];
  });
  return Object.fromEntries(entries) as Numbers;
}

/** What all new SKUs have alike; null if something is not valid. */
function commonOf(numbers: Numbers, form: FormData): Common | null {
  const { price, cost_price, market_price, stock } = numbers;
  if (price === null || cost_price === null || market_price === null || stock === null) return null;
  return { price, cost_price, market_price, stock, is_launched: form.get('is_launched') !== null };
}

function CreateMissing({ spu, missing, reload, onCreated, onClose }: CreateProps) {
  const problem = useSignal<string | null>(null);
  const wrong = useSignal<readonly string[]>([]);
  const root = useRef<HTMLFormElement>(null);
  const creation = useRef(new CreationKey());
  const fail = useComplaint((error) => {
    problem.value = wordsFor(error);
  });
  const submit = useOneAtATime(async (form: FormData) => {
    const numbers = numbersOf(form);
    const common = commonOf(numbers, form);
    const chosen = missing.filter(({ key }) => form.get(`combination ${key}`) !== null);
    wrong.value = NUMBERS.filter((name) => numbers[name] === null);
    if (common === null || chosen.length === 0) {
      problem.value = t('spu.invalid', { price: priceExample(), stock: 1234 });
      requestAnimationFrame(() => focusProblem(root.current));
      return;
    }
    const wanted = { spu, chosen, common };
    const count = await countTaken(wanted, creation.current);
    if (count > 0) {
      reload();
      const text = t('spu.notMissing', { count });
      if (count < chosen.length) throw new Error(text);
      complain(new Error(text));
      onClose();
      return;
    }
    const made = await createSkus(wanted, creation.current);
    announce(t('spu.created', { count: made.length }));
    onCreated();
    onClose();
    reload();
  });
  return (
    <Dialog title={t('spu.createMissing', { count: missing.length })} onClose={onClose} asks>
      <form
        ref={root}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          problem.value = null;
          submit(new FormData(event.currentTarget)).catch(fail);
        }}
      >
        <div class="dialog-body fields">
          <Problem text={problem.value} />
          {NUMBERS.map((name) => (
            <NumberField key={name} name={name} wrong={wrong.value.includes(name)} />
          ))}
          <label class="check">
            <input type="checkbox" name="is_launched" /> {attributeLabel('is_launched')}
          </label>
          <fieldset class="checks">
            <legend>{t('spu.combinations')}</legend>
            {missing.map(({ key, label }) => (
              <label key={key}>
                <input type="checkbox" name={`combination ${key}`} defaultChecked />{' '}
                <bdi>{label}</bdi>
              </label>
            ))}
          </fieldset>
        </div>
        <DialogFooter onClose={onClose} action={t('form.create')} />
      </form>
    </Dialog>
  );
}

interface NumberFieldProps {
  readonly name: (typeof NUMBERS)[number];
  readonly wrong: boolean;
}

function NumberField({ name, wrong }: NumberFieldProps) {
  const id = `missing-${name}`;
  const isPriced = name !== 'stock';
  const described = [...(wrong ? [`${id}-problem`] : []), ...(isPriced ? [`${id}-unit`] : [])];
  const input = (
    <input
      id={id}
      name={name}
      inputMode={isPriced ? 'decimal' : 'numeric'}
      autocomplete="off"
      // As in the form of a SKU: a price is always typed, and nothing is in its way.
      defaultValue={isPriced ? '' : '0'}
      required
      aria-invalid={wrong}
      aria-describedby={described.length === 0 ? undefined : described.join(' ')}
    />
  );
  return (
    <div class="field">
      <label for={id} class="required">
        {attributeLabel(name)}
      </label>
      {isPriced ? <Unit id={`${id}-unit`}>{input}</Unit> : input}
      {wrong && (
        <p id={`${id}-problem`} class="problem">
          {numberProblem(isPriced)}
        </p>
      )}
    </div>
  );
}
