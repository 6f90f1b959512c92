/** What an import has done, or would do. */
import { collectionOf } from '../api/collections.ts';
import { textOf } from '../api/text-of.ts';
import { href } from '../location.ts';
import { t } from '../messages/text.ts';
import { shownValue } from '../parts/attributes.ts';
import { download } from '../parts/download.ts';
import type { Import } from './api.ts';
import { columnLabel } from './column-label.ts';
import { cellOf, writeRecord } from './csv.ts';
import type { Plan } from './plan.ts';

/** Changes and errors that are shown; the report has all that the server lists. */
const MAX_SHOWN = 200;

interface ReportProps {
  readonly plan: Plan;
  readonly result: Import;
  readonly onBack: () => void;
  readonly onApply: () => void;
  readonly onAgain: () => void;
}

const COUNTS = ['rows', 'created', 'changed', 'unchanged', 'refused'] as const;

export function Report(props: ReportProps) {
  const { plan, result, onBack, onApply, onAgain } = props;
  const { dry_run: dryRun, state } = result;
  const applicable = dryRun && state === 'done' && result.created + result.changed > 0;
  return (
    <section class="panel">
      <div role="status">
        <h2>{t(`import.state.${dryRun && state === 'done' ? 'ready' : state}`)}</h2>
      </div>
      <dl class="counts">
        {COUNTS.map((name) => (
          <div key={name}>
            <dt>{t(`import.${name}`)}</dt>
            <dd>{result[name]}</dd>
          </div>
        ))}
      </dl>
      {result.errors.length > 0 && <Errors result={result} />}
      {result.changes.length > 0 && <Changes plan={plan} result={result} />}
      <div class="buttons">
        {dryRun && (
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
    </section>
  );
}

function Errors({ result }: { readonly result: Import }) {
  return (
    <>
      <h3>{t('import.errors', { count: result.error_count })}</h3>
      <div class="table" role="region" aria-label={t('import.errorList')} tabIndex={0}>
        <table>
          <caption class="hidden">{t('import.errorList')}</caption>
          <thead>
            <tr>
              <th scope="col" class="number">
                {t('import.row')}
              </th>
              <th scope="col">{t('import.column')}</th>
              <th scope="col">{t('import.problem')}</th>
            </tr>
          </thead>
          <tbody>
            {result.errors.slice(0, MAX_SHOWN).map(({ row, column, message }) => (
              <tr key={`${row} ${column} ${message}`}>
                <td class="number">{row ?? '–'}</td>
                <td>{column ?? '–'}</td>
                <td class="wraps problem">{message}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

interface ChangesProps {
  readonly plan: Plan;
  readonly result: Import;
}

function Changes({ plan, result }: ChangesProps) {
  const { title } = collectionOf(plan.collection);
  return (
    <>
      <h3>{t('import.changes', { count: result.change_count })}</h3>
      <div class="table" role="region" aria-label={t('import.changeList')} tabIndex={0}>
        <table>
          <caption class="hidden">{t('import.changeList')}</caption>
          <thead>
            <tr>
              <th scope="col" class="number">
                {t('import.row')}
              </th>
              <th scope="col">{t('import.item')}</th>
              <th scope="col">{t('import.values')}</th>
            </tr>
          </thead>
          <tbody>
            {result.changes.slice(0, MAX_SHOWN).map(({ row, id, action, fields }) => (
              <tr key={row}>
                <td class="number">{row}</td>
                <th scope="row">
                  <a href={href(`/${plan.collection}/${id}`)}>
                    {textOf(fields[title]?.[1]) || `#${id}`}
                  </a>{' '}
                  <span class="tag">{t(`action.${action}`)}</span>
                </th>
                <td class="wraps">
                  <FieldChanges fields={fields} isNew={action === 'create'} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {result.change_count > MAX_SHOWN && (
        <p class="soft">{t('bulk.more', { count: result.change_count - MAX_SHOWN })}</p>
      )}
    </>
  );
}

interface FieldsProps {
  readonly fields: Import['changes'][number]['fields'];
  readonly isNew: boolean;
}

function FieldChanges({ fields, isNew }: FieldsProps) {
  return (
    <ul class="diff">
      {Object.entries(fields).map(([name, [before, after]]) => (
        <li key={name}>
          <span class="soft">{columnLabel(name)}</span>{' '}
          {!isNew && (
            <>
              <del>{shownValue(name, before) || '–'}</del>{' '}
            </>
          )}
          <ins>{shownValue(name, after) || '–'}</ins>
        </li>
      ))}
    </ul>
  );
}

/** A table of everything that the server lists. */
function downloadReport({ file }: Plan, result: Import): void {
  const rows: string[][] = [['row', 'column', 'id', 'result', 'before', 'after']];
  for (const { row, column, message } of result.errors) {
    rows.push([String(row ?? ''), column ?? '', '', message, '', '']);
  }
  for (const { row, id, action, fields } of result.changes) {
    for (const [name, [before, after]] of Object.entries(fields)) {
      rows.push([String(row), name, String(id), action, cellOf(before), cellOf(after)]);
    }
  }
  const text = rows.map((cells) => writeRecord(cells, ',')).join('');
  const name = file.name.replace(/\.\w+$/, '');
  download(new Blob(['\uFEFF', text], { type: 'text/csv' }), `${name}-report.csv`);
}
