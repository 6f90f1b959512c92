/** The audit trail: who changed what and when, before and after side by side, and back again. */
import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { ApiError, isPassing, jsonOf, send } from '../api/client.ts';
import { collectionNamed } from '../api/collections.ts';
import { needCategories } from '../api/references.ts';
import { textOf } from '../api/text-of.ts';
import { pageOf } from '../lists/list-query.ts';
import { href, navigate, query as address, scrollBack } from '../location.ts';
import type { MessageKey } from '../messages/message.ts';
import { formatTime, serverText, t } from '../messages/text.ts';
import { useOneAtATime } from '../one-at-a-time.ts';
import { attributeLabel, shownValue } from '../parts/attributes.ts';
import { followCategories } from '../parts/category-changes.ts';
import { confirm } from '../parts/dialog.tsx';
import { announce, complain, Failure } from '../parts/notices.tsx';
import { usePagingFocus } from '../parts/paging-focus.ts';
import { useTitle } from '../parts/title.ts';
import { reverse } from '../parts/undo.ts';
import { useReading } from '../parts/use-reading.ts';
import { type AuditEntry, differencesOf, entryTitle, lastEntry, resourceLabel } from './entries.ts';
import { nameOf, useNames } from './names.ts';
import { addressOf, TrailFilters } from './trail-filters.tsx';

const PER_PAGE = 30;

interface Trail {
  readonly entries: readonly AuditEntry[];
  readonly total: number;
}

/** The filters that the address names. */
function filtersOf(search: URLSearchParams): Record<string, string> {
  const names = ['subject', 'resource', 'resource_id', 'since', 'until'];
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = search.get(name) ?? '';
      return value === '' ? [] : [[name, value]];
    }),
  );
}

/**
 * The bounds of the period as instants. The API takes a date for a day in UTC, and the times that
 * are shown are those of the user.
 */
function periodOf({ since, until }: Readonly<Record<string, string>>): Record<string, string> {
  return {
    ...(since !== undefined && { since: instantOf(since, '00:00:00.000') }),
    ...(until !== undefined && { until: instantOf(until, '23:59:59.999') }),
  };
}

/** @returns the date as it is if it is none: the server says what is wrong. */
function instantOf(date: string, time: string): string {
  const instant = new Date(`${date}T${time}`);
  return Number.isNaN(instant.getTime()) ? date : instant.toISOString();
}

async function readTrail(parameters: string, signal: AbortSignal): Promise<Trail> {
  const response = await send(`/admin/audits/?order=desc&${parameters}`, { signal });
  const entries = await jsonOf<AuditEntry[]>(response);
  return { entries, total: Number(response.headers.get('X-Total-Count') ?? entries.length) };
}

/** The address holds the filters and the page, so that a link shows the same entries. */
export function AuditScreen() {
  const filters = filtersOf(address.value);
  const page = pageOf(address.value);
  const parameters = new URLSearchParams({
    ...filters,
    ...periodOf(filters),
    page: String(page),
    per_page: String(PER_PAGE),
  }).toString();
  const {
    found: trail,
    failure,
    reload,
  } = useReading((signal) => readTrail(parameters, signal), [parameters]);
  useEffect(() => {
    if (trail.value === null) return;
    const { entries, total } = trail.value;
    if (entries.length > 0 || total === 0) scrollBack();
    // Beyond the last page.
    else void navigate(addressOf(filters, lastPage(total)), { replace: true });
  }, [trail.value]);
  useTitle(t('nav.audits'));
  useEffect(() => {
    needCategories().catch(complain);
  }, []);
  return (
    <>
      <div class="heading">
        <h1>{t('nav.audits')}</h1>
      </div>
      <TrailFilters filters={filters} />
      <Failure text={failure.value} onAgain={reload} />
      {trail.value === null && failure.value === null && <p class="empty">{t('loading')}</p>}
      <ol class="trail">
        {trail.value?.entries.map((entry) => (
          <Entry key={entry.id} entry={entry} onUndone={reload} />
        ))}
      </ol>
      <TrailPaging {...{ filters, page, trail }} />
    </>
  );
}

interface PagingProps {
  readonly filters: Readonly<Record<string, string>>;
  readonly page: number;
  readonly trail: Signal<Trail | null>;
}

function TrailPaging({ filters, page, trail }: PagingProps) {
  const last = Math.max(1, lastPage(trail.value?.total ?? 0));
  return (
    <nav {...usePagingFocus(page)} class="paging" aria-label={t('paging.label')}>
      <p aria-live="polite">{trail.value !== null && countText(trail.value.total)}</p>
      {page > 1 && (
        <a class="button" href={href(addressOf(filters, Math.min(page - 1, last)))}>
          {t('paging.previous')}
        </a>
      )}
      {page < last && (
        <a class="button" href={href(addressOf(filters, page + 1))}>
          {t('paging.next')}
        </a>
      )}
    </nav>
  );
}

function lastPage(total: number): number {
  return Math.ceil(total / PER_PAGE);
}

function countText(count: number): string {
  return count === 0 ? t('audits.none') : t('audits.count', { count });
}

interface EntryProps {
  readonly entry: AuditEntry;
  readonly onUndone: () => void;
}

/** Whether the row is what it was before the entry. */
async function isUndone({ resource, resource_id: id, before }: AuditEntry): Promise<boolean> {
  const last = await lastEntry(resource, id);
  return last !== undefined && differencesOf({ ...last, before }).length === 0;
}

interface Attempt {
  /** Whether the response to an earlier attempt was lost. */
  readonly isRepeated: boolean;
  /** Whether the entry is still there: a user who has left it is asked nothing. */
  readonly isShown: () => boolean;
}

/** @returns whether it is undone; the user may keep a row that has changed since. */
async function undoOrAsk(entry: AuditEntry, { isRepeated, isShown }: Attempt): Promise<boolean> {
  try {
    await reverse(entry.id);
    return true;
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 409)) throw error;
    if (isRepeated && (await isUndone(entry))) return true;
    if (!isShown()) throw error;
    const force = await confirm({
      title: t('audits.conflict'),
      text: serverText(error.message),
      yes: t('audits.overwrite'),
    });
    if (force) await reverse(entry.id, true);
    return force;
  }
}

/** @returns undoes an entry, unless the row has changed since and the user keeps it. */
function useUndo({ entry, onUndone }: EntryProps, isShown: () => boolean): () => Promise<void> {
  const unanswered = useRef(false);
  return useOneAtATime(async () => {
    try {
      if (!(await undoOrAsk(entry, { isRepeated: unanswered.current, isShown }))) return;
    } catch (error) {
      unanswered.current ||= isPassing(error);
      throw error;
    }
    announce(t('undo.done', { count: 1 }));
    onUndone();
    followCategories(entry.resource);
  });
}

function Entry(props: EntryProps) {
  const { entry } = props;
  const { action, resource, resource_id: id, subject, time } = entry;
  const linked = collectionNamed(resource) !== undefined;
  const button = useRef<HTMLButtonElement>(null);
  const undo = useUndo(props, () => button.current !== null);
  const undoable = linked || resource === 'sku_specs';
  return (
    <li>
      <div class="entry-head">
        <strong>
          {linked && action !== 'delete' ? (
            <a href={href(`/${resource}/${id}`)}>{entryTitle(entry)}</a>
          ) : (
            entryTitle(entry)
          )}
        </strong>
        <span class="tag">{t(`action.${action}`)}</span>
        <span class="soft">{resourceLabel(resource)}</span>
        <span class="soft">
          {t('home.byWhom', { who: subject ?? '–', when: formatTime(time) })}
        </span>
        {undoable && (
          <button
            ref={button}
            type="button"
            aria-label={t('audits.undoEntry', { name: entryTitle(entry) })}
            onClick={() => void undo().catch(complain)}
          >
            {t('undo')}
          </button>
        )}
      </div>
      <Differences entry={entry} />
    </li>
  );
}

function Differences({ entry }: { readonly entry: AuditEntry }) {
  const differences = differencesOf(entry);
  const isOpen = useSignal(entry.action === 'update');
  const names = useNames(entry, isOpen.value);
  const text = (attribute: string, value: unknown) =>
    nameOf(names, attribute, value) ?? textFor(attribute, value);
  if (differences.length === 0) return <p class="soft">{t('audits.noDifference')}</p>;
  return (
    <details
      open={isOpen.value}
      onToggle={({ currentTarget }) => void (isOpen.value = currentTarget.open)}
    >
      <summary>{t('audits.differences', { count: differences.length })}</summary>
      {/* Not a region: there is one for each entry, and regions of one name are no landmarks. */}
      <div class="table" role="group" aria-label={t('audits.values')} tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t('conflict.attribute')}</th>
              <th scope="col">{t('audits.before')}</th>
              <th scope="col">{t('audits.after')}</th>
            </tr>
          </thead>
          <tbody>
            {differences.map(({ attribute, before, after }) => (
              <tr key={attribute}>
                {/* Rows have attributes that no form has. */}
                <th scope="row">{attributeLabel(attribute) || attribute}</th>
                <td class="wraps">{text(attribute, before) || '–'}</td>
                <td class="wraps kept">{text(attribute, after) || '–'}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

/** The value for people. The role of an account is called as on the screen of accounts. */
function textFor(attribute: string, value: unknown): string {
  const role = attribute === 'role' ? t(`role.${textOf(value)}` as MessageKey) : '';
  return role === '' ? shownValue(attribute, value) : role;
}
