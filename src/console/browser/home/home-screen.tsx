/** The first screen: how much there is, what waits, what changed last, what needs attention. */
import { COLLECTION_NAMES, collectionNamed } from '../api/collections.ts';
import { session } from '../api/session.ts';
import { readSummary, type Summary } from '../api/summary.ts';
import type { CollectionName } from '../api/types.ts';
import { href, navigate } from '../location.ts';
import { formatNumber, formatTime, formatUnit, serverText, t } from '../messages/text.ts';
import { resourceLabel } from '../audits/entries.ts';
import { Failure } from '../parts/notices.tsx';
import { useTitle } from '../parts/title.ts';
import { useReading } from '../parts/use-reading.ts';
import { textOf } from '../api/text-of.ts';

/** Entries of the audit trail that are shown. */
const MAX_CHANGES = 8;

type LastChange = NonNullable<Summary['changes']>[number];

/** All that it shows comes in one response (spec 13.3). */
export function HomeScreen() {
  const { found: summary, failure, reload } = useReading(readSummary, []);
  useTitle(t('home.title'));
  return (
    <>
      <div class="heading">
        <h1>{t('home.hello', { name: session.value?.subject ?? '' })}</h1>
      </div>
      <Find />
      <Failure text={failure.value} onAgain={reload} />
      {summary.value !== null && <State summary={summary.value} />}
      <Counts counts={summary.value?.counts ?? {}} />
      {summary.value?.changes && <LastChanges changes={summary.value.changes} />}
    </>
  );
}

/** Megabytes and so on, as the language writes them. */
function formatBytes(bytes: number): string {
  const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const;
  const step = Math.min(3, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  return formatUnit(bytes / 1000 ** step, units[step] ?? 'byte');
}

function State({ summary }: { readonly summary: Summary }) {
  const { pages, store, warnings } = summary;
  return (
    <section aria-labelledby="state">
      <h2 id="state">{t(warnings.length > 0 ? 'home.warnings' : 'home.state')}</h2>
      <ul class="warnings">
        {warnings.map(({ code, message }) => (
          <li key={code}>{serverText(message)}</li>
        ))}
      </ul>
      <p class="soft">
        {warnings.length === 0 && `${t('home.fine')} `}
        {pages.waiting > 0 && `${t('home.pages', { count: pages.waiting })} `}
        {t('home.size', { size: formatBytes(store.bytes) })}
      </p>
    </section>
  );
}

/** The quickest way to a SKU. */
function Find() {
  return (
    <form
      class="find"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        const q = textOf(new FormData(event.currentTarget).get('q'));
        void navigate(`/skus?${new URLSearchParams({ q })}`);
      }}
    >
      <label for="find">{t('home.find')}</label>
      <input id="find" name="q" type="search" />
      <button type="submit">{t('home.findAction')}</button>
    </form>
  );
}

interface CountsProps {
  readonly counts: Readonly<Partial<Record<CollectionName, number>>>;
}

function Counts({ counts }: CountsProps) {
  return (
    <section aria-labelledby="counts">
      <h2 id="counts">{t('home.counts')}</h2>
      <dl class="counts">
        {COLLECTION_NAMES.map((name) => (
          <div key={name}>
            <dt>{t(`collection.${name}`)}</dt>
            <dd>{counts[name] === undefined ? '…' : formatNumber(counts[name])}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function LastChanges({ changes }: { readonly changes: readonly LastChange[] }) {
  return (
    <section aria-labelledby="last-changes">
      <h2 id="last-changes">{t('home.lastChanges')}</h2>
      {changes.length === 0 && <p class="soft">{t('audits.none')}</p>}
      <ul class="changes">
        {changes.slice(0, MAX_CHANGES).map((change) => (
          <li key={change.id}>
            <ChangeLink change={change} /> <span class="tag">{t(`action.${change.action}`)}</span>
            <span class="soft">{resourceLabel(change.resource)}</span>
            <span class="soft">
              {t('home.byWhom', { who: change.subject ?? '–', when: formatTime(change.time) })}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function ChangeLink({ change }: { readonly change: LastChange }) {
  const { resource, resource_id: id, action, label } = change;
  const title = label ?? `#${id}`;
  const linked = collectionNamed(resource) !== undefined && action !== 'delete';
  if (!linked) return <strong>{title}</strong>;
  return <a href={href(`/${resource}/${id}`)}>{title}</a>;
}
