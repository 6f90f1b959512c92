/** The filters of the audit trail. The address holds them. */
import { COLLECTION_NAMES } from '../api/collections.ts';
import { navigate } from '../location.ts';
import type { MessageKey } from '../messages/message.ts';
import { t } from '../messages/text.ts';
import { useTyped } from '../parts/use-typed.ts';
import { resourceLabel } from './entries.ts';

/** Resources of entries that have neither a list nor a screen. */
const OTHERS = ['sku_specs', 'webhooks'] as const;

type Filters = Readonly<Record<string, string>>;

/** The address of a part of the trail, below `/console`. @param page from 1. */
export function addressOf(filters: Filters, page: number): string {
  const search = new URLSearchParams(filters);
  if (page > 1) search.set('page', String(page));
  const text = search.toString();
  return `/audits${text === '' ? '' : `?${text}`}`;
}

/** Each change is a new address, which begins with the first page again. */
export function TrailFilters({ filters }: { readonly filters: Filters }) {
  const set = (name: string, value: string) => {
    const { [name]: _, ...rest } = filters;
    void navigate(addressOf(value === '' ? rest : { ...rest, [name]: value }, 1));
  };
  const given = (name: string) => ({
    name,
    value: filters[name] ?? '',
    onChange: (value: string) => set(name, value),
  });
  return (
    <div class="toolbar">
      <TextFilter {...given('subject')} type="text" />
      <div class="filter">
        <label for="audit-resource">{t('audits.resource')}</label>
        <select
          id="audit-resource"
          value={filters['resource'] ?? ''}
          onChange={({ currentTarget }) => set('resource', currentTarget.value)}
        >
          <option value="">{t('filter.any')}</option>
          {COLLECTION_NAMES.filter((name) => name !== 'books').map((name) => (
            <option key={name} value={name}>
              {resourceLabel(name)}
            </option>
          ))}
          <option value="users">{t('nav.accounts')}</option>
          {OTHERS.map((name) => (
            <option key={name} value={name}>
              {resourceLabel(name)}
            </option>
          ))}
        </select>
      </div>
      <TextFilter {...given('resource_id')} type="text" />
      <TextFilter {...given('since')} type="date" />
      <TextFilter {...given('until')} type="date" />
      {Object.keys(filters).length > 0 && (
        <button type="button" class="plain" onClick={() => void navigate('/audits')}>
          {t('filter.clear')}
        </button>
      )}
    </div>
  );
}

interface TextProps {
  readonly name: string;
  readonly type: 'text' | 'date';
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function TextFilter({ name, type, value, onChange }: TextProps) {
  const { field, end } = useTyped(value);
  const given = {
    id: `audit-${name}`,
    ...field,
    onChange: ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) => {
      const text = currentTarget.value.trim();
      // Each digit of a year makes a date: the first of 2026 is one of the year 2.
      if (type === 'date' && text.startsWith('0')) return;
      end();
      onChange(text);
    },
    onBlur: end,
  };
  return (
    <div class="filter">
      <label for={given.id}>{t(`audits.${name}` as MessageKey)}</label>
      {type === 'date' ? (
        <input type="date" autocomplete="off" {...given} />
      ) : (
        <input type="text" autocomplete="off" {...given} />
      )}
    </div>
  );
}
