/** What the list shows, all pages of it, as a file. */
import { useSignal } from '@preact/signals';
import type { Collection } from '../api/collections.ts';
import { exported } from '../api/items.ts';
import { moreScreens } from '../load-screens.ts';
import { t } from '../messages/text.ts';
import { download } from '../parts/download.ts';
import { announce, complain } from '../parts/notices.tsx';
import { type ListQuery, matching } from './list-query.ts';

const FORMATS = ['csv', 'ndjson', 'json'] as const;

interface ExportProps {
  readonly collection: Collection;
  readonly query: ListQuery;
}

/** The server writes the file; for collections that it does not export, the console does. */
export function ExportButton({ collection, query }: ExportProps) {
  const format = useSignal<string>('csv');
  const busy = useSignal(false);
  const run = async () => {
    if (busy.value) return;
    busy.value = true;
    try {
      const parameters = { ...matching(query), format: format.value };
      const { file, fileName } = collection.administered
        ? await exported(collection.name, parameters)
        : await (await moreScreens()).writtenFile(collection, matching(query), format.value);
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
      {/* A button that is disabled would lose the focus. */}
      <button type="button" aria-disabled={busy.value} onClick={() => void run()}>
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
