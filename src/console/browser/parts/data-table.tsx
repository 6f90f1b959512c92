/** A table of what is shown once, such as changes, and how much it leaves out. */
import type { ComponentChildren } from 'preact';
import { t } from '../messages/text.ts';

interface TableProps {
  /** What it lists. It is announced, and not seen. */
  readonly label: string;
  /** The headers; those of numbers stand above their digits. */
  readonly columns: readonly (string | { readonly number: string })[];
  readonly class?: string;
  /** Whether it is to say that it lists nothing. */
  readonly isEmpty?: boolean;
  /** The rows. */
  readonly children: ComponentChildren;
}

/** A region that scrolls sideways must be reachable by keyboard. */
export function DataTable({ label, columns, class: name = '', isEmpty, children }: TableProps) {
  return (
    <div class="table" role="region" aria-label={label} tabIndex={0}>
      <table class={name}>
        <caption class="hidden">{label}</caption>
        <thead>
          <tr>
            {columns.map((column, at) => (
              <th key={at} scope="col" class={typeof column === 'string' ? '' : 'number'}>
                {typeof column === 'string' ? column : column.number}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
      {isEmpty === true && <p class="empty">{t('list.empty')}</p>}
    </div>
  );
}

/** Says how many more there are than are shown; nothing if there are none. */
export function More({ count }: { readonly count: number }) {
  return count > 0 ? <p class="soft">{t('bulk.more', { count })}</p> : null;
}
