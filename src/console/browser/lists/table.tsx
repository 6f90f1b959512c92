/** The table of a list. */
import { mayWrite } from '../api/session.ts';
import type { Item } from '../api/types.ts';
import { href } from '../location.ts';
import { t } from '../messages/text.ts';
import {
  attributeLabel,
  CATEGORY_LEVELS,
  isNumeric,
  shownValue,
  titleOf,
} from '../parts/attributes.ts';
import { shownColumns } from './columns.ts';
import { EditableCell, isEditable } from './cells/editable-cell.tsx';
import { LaunchedCell } from './cells/launched-cell.tsx';
import type { ListProps } from './list-props.ts';
import { pageParameters } from './list-query.ts';
import { textOf } from '../api/text-of.ts';

interface SelectProps extends ListProps {
  /** Selects items of the shown page, or no longer. */
  readonly select: (items: readonly Item[], selected: boolean) => void;
}

/** It shows the page that was read last, until the next one is there. */
export function ItemTable(props: ListProps) {
  const { collection, shown, query, selection } = props;
  const columns = shownColumns(collection);
  const page = shown.page.value;
  const items = page?.items ?? [];
  const select: SelectProps['select'] = (changed, selected) => {
    if (page !== null) selection.set(changed, selected, pageParameters(page.query));
  };
  const isFiltered = query.q !== '' || Object.keys(query.filters).length > 0;
  return (
    // A region that scrolls sideways must be reachable by keyboard.
    <div class="table" role="region" aria-label={t(`collection.${collection.name}`)} tabIndex={0}>
      <table aria-busy={shown.loading.value} onKeyDown={moveBetweenRows}>
        <caption class="hidden">{t(`collection.${collection.name}`)}</caption>
        <thead>
          <tr>
            {mayWrite.value && collection.administered && <SelectPage {...props} select={select} />}
            {columns.map((column) => (
              <SortableHeader key={column} column={column} {...props} />
            ))}
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <Row key={item.id} item={item} columns={columns} {...props} select={select} />
          ))}
        </tbody>
      </table>
      {page === null && shown.failure.value === null && <p class="empty">{t('loading')}</p>}
      {page?.total === 0 && (
        <div class="empty">
          <p>{t(isFiltered ? 'list.nothingFound' : 'list.empty')}</p>
          {!isFiltered && mayWrite.value && (
            <p>{t(collection.administered ? 'list.emptyHelp' : 'list.emptyNew')}</p>
          )}
        </div>
      )}
    </div>
  );
}

function SelectPage({ shown, selection, select }: SelectProps) {
  const items = shown.page.value?.items ?? [];
  const all = items.length > 0 && items.every(({ id }) => selection.items.value.has(id));
  return (
    <td class="select">
      <label>
        <input
          type="checkbox"
          aria-label={t('select.page')}
          checked={all}
          disabled={items.length === 0}
          onChange={({ currentTarget }) => select(items, currentTarget.checked)}
        />
      </label>
    </td>
  );
}

function SortableHeader({
  column,
  collection,
  query,
  show,
}: ListProps & { readonly column: string }) {
  const current = query.sortby === column || (query.sortby === '' && column === 'id');
  const direction = query.descending ? 'descending' : 'ascending';
  return (
    <th
      scope="col"
      class={column === collection.title ? 'name' : isNumeric(column) ? 'number' : ''}
      aria-sort={current ? direction : 'none'}
    >
      <button
        type="button"
        onClick={() => show({ sortby: column, descending: current && !query.descending })}
      >
        {attributeLabel(column)}
      </button>
    </th>
  );
}

interface RowProps extends SelectProps {
  readonly item: Item;
  readonly columns: readonly string[];
}

function Row(props: RowProps) {
  const { collection, item, columns, selection, select } = props;
  const selected = selection.items.value.has(item.id);
  const title = titleOf(collection, item);
  return (
    <tr class={selected ? 'selected' : ''}>
      {mayWrite.value && collection.administered && (
        <td class="select">
          <label>
            <input
              type="checkbox"
              aria-label={t('select.item', { name: title })}
              checked={selected}
              onChange={({ currentTarget }) => select([item], currentTarget.checked)}
            />
          </label>
        </td>
      )}
      {columns.map((column) => (
        <Cell key={column} column={column} {...props} />
      ))}
    </tr>
  );
}

/** Columns that lead to another item, and where its id is. */
const LINKS: Readonly<Record<string, { collection: string; id: string }>> = {
  goods: { collection: 'goods', id: 'goods_id' },
  brand: { collection: 'brands', id: 'brand_id' },
  spec: { collection: 'specs', id: 'spec_id' },
};

function Cell({ column, item, collection, shown }: RowProps & { readonly column: string }) {
  const value = item[column];
  const replace = (changed: Item) => {
    const page = shown.page.value;
    if (page === null) return;
    const items = page.items.map((each) => (each.id === changed.id ? changed : each));
    shown.page.value = { ...page, items };
  };
  if (column === collection.title) {
    return (
      <th scope="row" class="name">
        <a href={href(`/${collection.name}/${item.id}`)}>{titleOf(collection, item)}</a>
      </th>
    );
  }
  if (column === 'is_launched')
    return <LaunchedCell {...{ collection, item }} onChange={replace} />;
  if (isEditable(collection, column)) {
    return <EditableCell {...{ collection, column, item }} onChange={replace} />;
  }
  const link = LINKS[column];
  const text = shownValue(column, value);
  return (
    <td class={isNumeric(column) ? 'number' : column in CATEGORY_LEVELS ? 'path' : ''}>
      {link === undefined ? (
        text
      ) : (
        <a href={href(`/${link.collection}/${textOf(item[link.id])}`)}>{text}</a>
      )}
    </td>
  );
}

/** Fields in which the arrow keys move the cursor, not those whose value is being saved. */
const TYPED_INTO = 'input:not([type=checkbox], [readonly])';

/** The arrow keys move from a link, field or button to the same one of the next row. */
function moveBetweenRows(event: KeyboardEvent): void {
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
  const { target } = event;
  if (!(target instanceof HTMLElement) || target.matches(TYPED_INTO)) return;
  const cell = target.closest<HTMLTableCellElement>('td, th');
  const row = cell?.closest('tr');
  const next = event.key === 'ArrowDown' ? row?.nextElementSibling : row?.previousElementSibling;
  if (cell === null || !(next instanceof HTMLTableRowElement)) return;
  const focusable = next.cells[cell.cellIndex]?.querySelector<HTMLElement>('a, button, input');
  if (focusable === null || focusable === undefined) return;
  event.preventDefault();
  focusable.focus();
}
