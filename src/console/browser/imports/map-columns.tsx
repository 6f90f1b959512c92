/** The second step of an import: what each column of the file is in the catalog. */
import { isPrice } from '../api/schema.ts';
import { t } from '../messages/text.ts';
import { DataTable } from '../parts/data-table.tsx';
import { columnLabel } from './column-label.ts';
import { SAMPLE_ROWS } from './file.ts';
import type { Plan } from './plan.ts';

/** Characters that are shown of a name or a cell: a browser lays out a long one for minutes. */
const MAX_SHOWN = 200;

function beginOf(text: string): string {
  if (text.length <= MAX_SHOWN) return text;
  // Not half of a character.
  return `${text.slice(0, MAX_SHOWN).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

interface MapProps {
  readonly plan: Plan;
  readonly onChange: (plan: Plan) => void;
  readonly onBack: () => void;
  readonly onNext: () => void;
}

/** A column of the catalog comes from at most one column of the file. */
export function MapColumns({ plan, onChange, onBack, onNext }: MapProps) {
  const { file, mapping, headless } = plan;
  const { header = [], sample = [], converted = false } = file.table ?? {};
  const rows = headless ? [header, ...sample].slice(0, SAMPLE_ROWS) : sample;
  const left = mapping.filter((name) => name === null).length;
  const set = (at: number, name: string | null) => {
    // A column of the catalog comes from one column of the file.
    const next = mapping.map((each, index) => (index === at ? name : each === name ? null : each));
    onChange({ ...plan, mapping: next });
  };
  return (
    <section class="panel">
      {converted && <p class="notice-inline">{t('import.converted')}</p>}
      <p aria-live="polite">
        {t('import.recognised', { count: header.length - left, all: header.length })}
      </p>
      <p>
        <label class="check">
          <input
            type="checkbox"
            checked={headless}
            onChange={({ currentTarget }) => onChange({ ...plan, headless: currentTarget.checked })}
          />{' '}
          {t('import.headless')}
        </label>
      </p>
      <DataTable
        label={t('import.columns')}
        class="stacked"
        columns={[t('import.inFile'), t('import.inCatalog'), t('import.examples')]}
      >
        {header
          .map((cell, at) => (headless ? String(at + 1) : beginOf(cell)))
          .map((name, at) => (
            <tr key={at}>
              <th scope="row">{name === '' ? '–' : name}</th>
              <td>
                <ColumnChoice
                  label={t('import.columnFor', { name })}
                  columns={plan.columns}
                  value={mapping[at] ?? null}
                  onChange={(chosen) => set(at, chosen)}
                />
              </td>
              <td class="wraps soft">{rows.map((row) => beginOf(row[at] ?? '')).join(' · ')}</td>
            </tr>
          ))}
      </DataTable>
      <div class="buttons">
        <button type="button" onClick={onBack}>
          {t('import.back')}
        </button>
        <button type="button" class="primary" disabled={left === header.length} onClick={onNext}>
          {t('import.check')}
        </button>
      </div>
    </section>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly columns: readonly string[];
  readonly value: string | null;
  readonly onChange: (column: string | null) => void;
}

/** What a column of the catalog is called among the choices: its label, and its name in a file. */
function choiceText(column: string): string {
  const label = columnLabel(column);
  if (label === column) return column;
  // The other column of the same price has the currency in its name, and 100 times the value.
  const text = isPrice(column) ? t('import.smallestUnit', { label }) : label;
  return `${text} (${column})`;
}

function ColumnChoice({ label, columns, value, onChange }: ChoiceProps) {
  return (
    <select
      aria-label={label}
      value={value ?? ''}
      onChange={({ currentTarget }) => {
        onChange(currentTarget.value === '' ? null : currentTarget.value);
      }}
    >
      <option value="">{t('import.leaveOut')}</option>
      {columns.map((column) => (
        <option key={column} value={column}>
          {choiceText(column)}
        </option>
      ))}
    </select>
  );
}
