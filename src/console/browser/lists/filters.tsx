/** A filter for each reference, and for SKUs whether they are on sale, their price and stock. */
import { useSignal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import { referencesOf } from '../api/collections.ts';
import { isPrice } from '../api/schema.ts';
import { moreScreens } from '../load-screens.ts';
import {
  currency,
  numberProblem,
  parsePrice,
  parseWhole,
  priceInput,
  t,
} from '../messages/text.ts';
import { attributeLabel, CATEGORY_LEVELS } from '../parts/attributes.ts';
import { complain } from '../parts/notices.tsx';
import { CategoryPicker } from '../parts/pickers/category-picker.tsx';
import { Combobox } from '../parts/pickers/combobox.tsx';
import { useTyped } from '../parts/use-typed.ts';
import type { ListProps } from './list-props.ts';
import { RANGES } from './list-query.ts';

function useFilter({ query, show }: ListProps) {
  return (name: string, value: string | null) => {
    const { [name]: _, ...rest } = query.filters;
    show({ filters: value === null || value === '' ? rest : { ...rest, [name]: value } });
  };
}

/** The first filter, or the search if the list has no filters. */
function firstFilter(): HTMLElement | null {
  return document.querySelector<HTMLElement>('[id^=filter-]') ?? document.getElementById('search');
}

/** Each change is a new address, which begins with the first page again. */
export function Filters(props: ListProps) {
  const { collection, query, show } = props;
  const set = useFilter(props);
  const { filters } = query;
  const cleared = useSignal(0);
  useLayoutEffect(() => {
    // The button is removed, and must not take the focus with it.
    if (cleared.value > 0) firstFilter()?.focus();
  }, [cleared.value]);
  const isFiltered = Object.keys(filters).length > 0 || query.q !== '';
  return (
    <>
      {referencesOf(collection).map(([attribute, target]) => (
        <div key={`${attribute} ${cleared.value}`} class="filter">
          <label for={`filter-${attribute}`}>{attributeLabel(attribute)}</label>
          {target === 'categories' ? (
            <CategoryFilter
              attribute={attribute}
              value={filters[attribute]}
              onChange={(id) => set(attribute, noneOf(attribute, id))}
            />
          ) : (
            <Combobox
              id={`filter-${attribute}`}
              collection={target}
              value={idOf(filters[attribute])}
              placeholder={t('filter.any')}
              none={t('filter.any')}
              showMore={(...search) => {
                moreScreens().then(({ showMore }) => showMore(...search), complain);
              }}
              onChange={(id) => set(attribute, noneOf(attribute, id))}
            />
          )}
        </div>
      ))}
      {collection.name === 'skus' && <SkuFilters {...props} cleared={cleared.value} />}
      {isFiltered && (
        <button
          type="button"
          class="plain"
          onClick={() => {
            cleared.value += 1;
            show({ filters: {}, q: '' });
          }}
        >
          {t('filter.clear')}
        </button>
      )}
    </>
  );
}

interface CategoryFilterProps {
  readonly attribute: string;
  /** As the address has it. */
  readonly value: string | undefined;
  readonly onChange: (id: number | null) => void;
}

/** The parent of first-level categories is "null", which is a choice of its own. */
function CategoryFilter({ attribute, value, onChange }: CategoryFilterProps) {
  const first = value === 'null';
  return (
    <CategoryPicker
      id={`filter-${attribute}`}
      value={idOf(value)}
      {...(first && { label: t('category.first') })}
      placeholder={t('filter.any')}
      levels={CATEGORY_LEVELS[attribute] ?? [1, 2, 3]}
      none={attribute === 'parent_id' ? t('category.first') : t('filter.any')}
      onChange={onChange}
    />
  );
}

/** An address may name what is no id. Why the server refuses it is said above the table. */
function idOf(value: string | undefined): number | null {
  return wholeNumber(value ?? '');
}

/** The filter for a choice; the parent of first-level categories is "null". */
function noneOf(attribute: string, id: number | null): string | null {
  if (id !== null) return String(id);
  return attribute === 'parent_id' ? 'null' : null;
}

/** @param cleared counts how often the filters were cleared, which also discards what is not valid. */
function SkuFilters({ cleared, ...props }: ListProps & { readonly cleared: number }) {
  const set = useFilter(props);
  const { filters } = props.query;
  const open = useSignal(RANGES.some((name) => filters[name] !== undefined));
  return (
    <>
      <div class="filter">
        <label for="filter-is_launched">{attributeLabel('is_launched')}</label>
        <select
          id="filter-is_launched"
          value={filters['is_launched'] ?? ''}
          onChange={({ currentTarget }) => set('is_launched', currentTarget.value)}
        >
          <option value="">{t('filter.any')}</option>
          <option value="true">{t('yes')}</option>
          <option value="false">{t('no')}</option>
        </select>
      </div>
      <button
        type="button"
        class="plain"
        aria-expanded={open.value}
        onClick={() => {
          open.value = !open.value;
        }}
      >
        {t('filter.more')}
      </button>
      {open.value && (
        <div class="ranges">
          {RANGES.map((name) => (
            <RangeFilter
              key={`${name} ${cleared}`}
              name={name}
              value={filters[name] ?? ''}
              onChange={(value) => set(name, value)}
            />
          ))}
        </div>
      )}
    </>
  );
}

interface RangeProps {
  readonly name: (typeof RANGES)[number];
  readonly value: string;
  readonly onChange: (value: string | null) => void;
}

function RangeFilter({ name, value, onChange }: RangeProps) {
  /** Whether what was typed is no value. */
  const wrong = useSignal(false);
  const problem = wrong.value ? `filter-${name}-problem` : null;
  const priced = isPrice(name.replace(/_m..$/, ''));
  const given = wholeNumber(value);
  const { field, end } = useTyped(priced && given !== null ? priceInput(given) : value);
  return (
    <div class="filter range">
      <label for={`filter-${name}`}>{t(`filter.${name}`)}</label>
      <input
        id={`filter-${name}`}
        inputMode="decimal"
        autocomplete="off"
        // Until the currency is known, nobody can tell what a typed price means.
        readOnly={priced && currency.value.code === ''}
        aria-invalid={problem !== null}
        aria-describedby={problem ?? undefined}
        {...field}
        onChange={({ currentTarget }) => {
          const text = currentTarget.value.trim();
          const amount = priced ? parsePrice(text) : parseWhole(text);
          wrong.value = text !== '' && amount === null;
          if (wrong.value) return;
          end();
          onChange(amount === null ? null : String(amount));
        }}
        onBlur={() => {
          if (!wrong.value) end();
        }}
      />
      {problem !== null && (
        <p id={problem} role="alert" class="problem">
          {numberProblem(priced)}
        </p>
      )}
    </div>
  );
}

function wholeNumber(text: string): number | null {
  return /^\d{1,15}$/.test(text) ? Number(text) : null;
}
