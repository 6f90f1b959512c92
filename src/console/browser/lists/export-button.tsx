/** What the list shows, all pages of it, as a file. */
import { useSignal } from '@preact/signals';
import type { Collection } from '../api/collections.ts';
import { exported, listAll } from '../api/items.ts';
import type { Query } from '../api/paths.ts';
import { cellOf, writeRecord } from '../imports/csv.ts';
import { t } from '../messages/text.ts';
import { download } from '../parts/download.ts';
import { announce, complain } from '../parts/notices.tsx';
import { type ListQuery, matching } from './list-query.ts';

const FORMATS = ['csv', 'ndjson', 'json'] as const;

/** The file of a collection that the server does not export: books. */
async function written(collection: Collection, query: Query, format: string) {
  const items = await listAll(collection.name, query, Number.POSITIVE_INFINITY);
  const [first] = items;
  const columns = Object.keys(first ?? { id: 0 });
  const lines = items.map((item) => JSON.stringify(item));
  const table = [columns, ...items.map((item) => columns.map((name) => cellOf(item[name])))];
  const texts: Readonly<Record<string, string>> = {
    csv: table.map((cells) => writeRecord(cells, ',')).join(''),
    ndjson: lines.map((line) => `${line}\n`).join(''),
    json: `[${lines.join(',')}]`,
  };
  const day = new Date().toISOString().slice(0, 10);
  return { file: new Blob([texts[format] ?? '']), fileName: `${collection.name}-${day}.${format}` };
}

interface ExportProps {
  readonly collection: Collection;
  readonly query: ListQuery;
}

export function ExportButton({ collection, query }: ExportProps) {
  const format = useSignal<string>('csv');
  const busy = useSignal(false);
  const run = async () => {
    busy.value = true;
    try {
      const parameters = { ...matching(query), format: format.value };
      const { file, fileName } = collection.administered
        ? await exported(collection.name, parameters)
        : await written(collection, matching(query), format.value);
      download(file, fileName);
      announce(t('export.done', { file: fileName }));
    } catch (error) {
      complain(error);
    } finally {
      busy.value = false;
    }
  };
  return (
    <span class="joined">
      <button type="button" disabled={busy.value} onClick={() => void run()}>
        {t('export.action')}
      </button>
      <select
        aria-label={t('export.format')}
        value={format.value}
        onChange={({ currentTarget }) => {
          format.value = currentTarget.value;
        }}
      >
        {FORMATS.map((each) => (
          <option key={each} value={each}>
            {each.toUpperCase()}
          </option>
        ))}
      </select>
    </span>
  );
}
