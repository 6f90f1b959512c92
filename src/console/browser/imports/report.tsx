/** What an import has done, or would do. */
import { useMemo, useRef } from 'preact/hooks';
import { collectionOf } from '../api/collections.ts';
import { categories } from '../api/references.ts';
import { textOf } from '../api/text-of.ts';
import type { Pair } from '../api/types.ts';
import { useClearOfNotices } from '../parts/keep-clear.ts';
import { href } from '../location.ts';
import { formatNumber, serverText, t } from '../messages/text.ts';
import { shownValue } from '../parts/attributes.ts';
import { DataTable, More } from '../parts/data-table.tsx';
import { download } from '../parts/download.ts';
import type { Import } from './api.ts';
import { columnLabel } from './column-label.ts';
import { CreatedMissing } from './created-missing.tsx';
import type { SentFile } from './file.ts';
import { nameKey, type Names, useNames } from './names.ts';
import { matchOf, type Plan } from './plan.ts';
import { reportFile } from './report-file.ts';

/** Changes and errors that are shown; the report has all that the server lists. */
const MAX_SHOWN = 200;

interface ReportProps {
  readonly plan: Plan;
  readonly result: Import;
  readonly example: SentFile['example'];
  /** Whether it is not known if the file was imported: only to start it again can tell. */
  readonly unanswered: boolean;
  readonly onBack: () => void;
  readonly onApply: () => void;
  readonly onAgain: () => void;
}

const COUNTS = ['rows', 'created', 'changed', 'unchanged', 'refused'] as const;

/** The same for a dry run, which offers to apply it, and for an import that has written. */
export function Report(props: ReportProps) {
  const { plan, result, example, unanswered, onBack, onApply, onAgain } = props;
  const { dry_run: dryRun, state } = result;
  const bar = useRef<HTMLDivElement>(null);
  useClearOfNotices(bar);
  const applicable = dryRun && state === 'done' && result.created + result.changed > 0;
  return (
    <>
      {unanswered && <p class="notice-inline">{t('import.startAgain')}</p>}
      {example !== null && <p class="notice-inline">{t('import.rewritten', example)}</p>}
      <dl class="counts">
        {COUNTS.map((name) => (
          <div key={name}>
            <dt>{t(`import.${name}`)}</dt>
            <dd>{formatNumber(result[name])}</dd>
          </div>
        ))}
      </dl>
      {result.errors.length > 0 && <Errors plan={plan} result={result} />}
      <CreatedMissing result={result} />
      {result.changes.length > 0 && <Changes plan={plan} result={result} />}
      {/* The lists above it may be some thirty windows long. */}
      <div ref={bar} class="save-bar">
        {dryRun && !unanswered && (
          <button type="button" onClick={onBack}>
            {t('import.back')}
          </button>
        )}
        <button type="button" onClick={() => downloadReport(plan, result)}>
          {t('import.report')}
        </button>
        {applicable && (
          <button type="button" class="primary" onClick={onApply}>
            {t('import.apply', { count: result.created + result.changed })}
          </button>
        )}
        {!dryRun && (
          <>
            <button type="button" onClick={onAgain}>
              {t('import.again')}
            </button>
            <a class="button primary" href={href(`/${plan.collection}`)}>
              {t('import.show')}
            </a>
          </>
        )}
      </div>
    </>
  );
}

/** Whether no row can be one of an item that exists. */
function isAllNew(plan: Plan): boolean {
  return plan.file.table !== null && matchOf(plan) === 'id' && !plan.mapping.includes('id');
}

function Errors({ plan, result }: ChangesProps) {
  return (
    <>
      <h3>{t('import.errors', { count: result.error_count })}</h3>
      {/* An error in the key of a row hides those of its cells, and these hide a broken rule. */}
      {result.state === 'refused' && <p class="soft">{t('import.moreErrors')}</p>}
      {isAllNew(plan) && <p class="notice-inline">{t('import.allNew')}</p>}
      <DataTable
        label={t('import.errorList')}
        columns={[{ number: t('import.row') }, t('import.column'), t('import.problem')]}
      >
        {result.errors.slice(0, MAX_SHOWN).map(({ row, column, message }) => (
          <tr key={`${row} ${column} ${message}`}>
            <td class="number">{row ?? '–'}</td>
            <td>{column === null ? '–' : nameInFile(plan, column)}</td>
            <td class="wraps problem">{serverText(message)}</td>
          </tr>
        ))}
      </DataTable>
      <More count={result.error_count - Math.min(result.errors.length, MAX_SHOWN)} />
    </>
  );
}

/** What the file calls a column, which the server names as the catalog does. */
function nameInFile({ file, mapping, headless }: Plan, column: string): string {
  if (file.table === null) return column;
  if (headless) return columnLabel(column);
  return file.table.header[mapping.indexOf(column)] ?? columnLabel(column);
}

interface ChangesProps {
  readonly plan: Plan;
  readonly result: Import;
}

function Changes({ plan, result }: ChangesProps) {
  const shown = useMemo(() => result.changes.slice(0, MAX_SHOWN), [result]);
  const names = useNames(plan.collection, result, shown);
  return (
    <>
      <h3>{t('import.changes', { count: result.change_count })}</h3>
      <DataTable
        label={t('import.changeList')}
        columns={[{ number: t('import.row') }, t('import.item'), t('import.values')]}
      >
        {shown.map((change) => (
          <tr key={change.row}>
            <td class="number">{change.row}</td>
            <th scope="row">
              <ChangedItem {...{ plan, result, change, names }} />{' '}
              <span class="tag">{t(`action.${change.action}`)}</span>
            </th>
            <td class="wraps">
              <FieldChanges change={change} names={names} />
            </td>
          </tr>
        ))}
      </DataTable>
      <More count={result.change_count - shown.length} />
    </>
  );
}

type Change = Import['changes'][number];

/** The name of the item, which leads to it if it exists. */
function ChangedItem(props: ChangesProps & { readonly change: Change; readonly names: Names }) {
  const { plan, result, change, names } = props;
  const { id, action, fields } = change;
  const title = textOf(fields[collectionOf(plan.collection).title]?.[1]);
  if (result.dry_run && action === 'create') return <>{title || '–'}</>;
  const isCategory = plan.collection === 'categories';
  const known = isCategory ? categories.value?.get(id)?.path : names.get(nameKey('id', id));
  const name = title || known;
  const link = href(`/${plan.collection}/${id}`);
  if (name === undefined) return <a href={link}>{`#${id}`}</a>;
  return (
    <>
      <a href={link}>{name}</a> <span class="soft">#{id}</span>
    </>
  );
}

interface FieldsProps {
  readonly change: Change;
  readonly names: Names;
}

function FieldChanges({ change: { fields, action }, names }: FieldsProps) {
  const text = (name: string, value: unknown): string => {
    if (Array.isArray(value)) return specsText(value as readonly Pair[], text);
    return (names.get(nameKey(name, value)) ?? shownValue(name, value)) || '–';
  };
  return (
    <ul class="diff">
      {Object.entries(fields).map(([name, [before, after]]) => (
        <li key={name}>
          <span class="soft">{columnLabel(name)}</span>{' '}
          {action !== 'create' && (
            <>
              <del>{text(name, before)}</del>{' '}
            </>
          )}
          <ins>{text(name, after)}</ins>
        </li>
      ))}
    </ul>
  );
}

/** The specifications of a SKU, as a file has them. @param text of the value of an attribute. */
function specsText(pairs: readonly Pair[], text: (name: string, value: unknown) => string): string {
  const named = pairs.map(
    ({ spec_id: spec, option_id: option }) =>
      `${text('spec_id', spec)}=${text('option_id', option)}`,
  );
  return named.join('; ') || '–';
}

function downloadReport({ file }: Plan, result: Import): void {
  const name = file.name.replace(/\.\w+$/, '');
  const text = ['\uFEFF', reportFile(result)];
  download(new Blob(text, { type: 'text/csv' }), `${name}-report.csv`);
}
