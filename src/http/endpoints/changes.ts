/** `/admin/changes/`: the changes since a change set, and those to come (spec 14.2, 14.3). */
import { durationIn } from '../../auth/duration.ts';
import { mayActAs } from '../../auth/roles.ts';
import { CatalogError } from '../../errors.ts';
import { RESOURCES } from '../../model/kind.ts';
import { parseCount } from '../../resources/query/paging.ts';
import { malformed, parseParameters, type Parameters } from '../../resources/query/parameters.ts';
import { header, type HttpResponse } from '../message.ts';
import { noBody } from '../operations/body.ts';
import { count, instant, positive, text } from '../operations/common-schemas.ts';
import { arrayOf, defineShape, negotiatedJson, textContent } from '../operations/content.ts';
import { operation, type RequestContext } from '../operations/operation.ts';
import { inQuery, type Parameter } from '../operations/parameters.ts';
import { definePath, type Path } from '../operations/path.ts';
import { callerOf, confirmCaller, isStillAllowed, subjectOf } from '../rules/authorization.ts';
import { CATALOG_SEQUENCE, parseSequence, parseSince } from '../rules/catalog-sequence.ts';
import { JSON_OFFERS } from '../rules/negotiation.ts';
import { CHANGES_TAG } from './tags.ts';

const EVENT_STREAM = 'text/event-stream';

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1000;

const MAX_WAIT_S = 60;

const EXAMPLE = {
  sequence: 1042,
  time: '2026-11-21T08:15:00.000Z',
  subject: 'ann',
  resource: 'brands',
  id: 3,
  action: 'update',
  before: { id: 3, name: 'Ondine', logo: '', first_letter: 'O' },
  after: { id: 3, name: 'Ondine Paris', logo: '', first_letter: 'O' },
};

const row = (description: string) => ({
  type: ['object', 'null'],
  additionalProperties: true,
  description,
});

const CHANGE = defineShape({
  name: 'Change',
  description: 'The change of one row by one change set.',
  properties: {
    sequence: { ...positive, description: 'The number of the change set.' },
    time: { ...instant, description: 'When it was made, UTC.' },
    subject: {
      type: ['string', 'null'],
      description:
        'The subject that last wrote the row, for the role `admin`; null for other roles, and for books.',
    },
    resource: {
      ...text,
      enum: RESOURCES,
      description: 'The name of the collection in the path.',
    },
    id: positive,
    action: { ...text, enum: ['create', 'update', 'delete'] },
    before: row('The stored attributes before the change; null for a new row.'),
    after: row('The stored attributes after the change; null for a deleted row.'),
  },
  example: EXAMPLE,
});

const ARRAY = arrayOf(negotiatedJson(CHANGE, {}), {
  ChangeList: () => ({ summary: 'Changes', value: [EXAMPLE] }),
});

const EVENTS = textContent(EVENT_STREAM, {
  ChangeEvents: () => ({
    summary: 'An event, and a comment',
    value: `id: ${EXAMPLE.sequence}\ndata: [${JSON.stringify(EXAMPLE)}]\n\n:\n\n`,
  }),
});

const PARAMETERS: readonly Parameter[] = [
  inQuery(
    'since',
    'The number of the change set after which the changes begin. The default is the last change set, so that only new changes follow.',
    count,
    'changessince',
  ),
  inQuery(
    'limit',
    'The maximum number of change sets in the array. A change set is never split.',
    { ...positive, maximum: MAX_LIMIT, default: DEFAULT_LIMIT },
    'changeslimit',
  ),
  inQuery(
    'wait',
    `How long to wait for a change if there is none, up to ${MAX_WAIT_S}s.`,
    { ...text, pattern: String.raw`^0{0,7}([0-5]?\d|60)s$|^0{0,8}1m$` },
    'changeswait',
  ),
];

const KNOWN = { owner: 'changes', names: new Set(PARAMETERS.map(({ name }) => name)) };

const LAST_EVENT_ID: Parameter = {
  component: 'lastEventId',
  name: 'Last-Event-ID',
  in: 'header',
  description:
    'For a stream: the id of the last event that the client received. The stream continues after it, and `since` is ignored.',
  schema: count,
  example: EXAMPLE.sequence,
};

export const CHANGES_PATH: Path = definePath<undefined>({
  template: '/admin/changes/',
  tag: CHANGES_TAG,
  name: 'ChangeList',
  about: 'changes',
  label: 'change',
  offers: [...JSON_OFFERS, { contentType: EVENT_STREAM, type: EVENT_STREAM }],
  resolve: () => undefined,
  operations: {
    GET: operation({
      id: 'listChanges',
      summary: 'List the changes',
      description:
        'The changes of the change sets after `since`, in their order. To read on, repeat the request with the `sequence` of the last change as `since`, or with `Catalog-Sequence` if there was none. With `Accept: text/event-stream` the response does not end: each change set is an event, with its number as the id and the array of its changes as the data.',
      role: 'viewer',
      parameters: [...PARAMETERS, LAST_EVENT_ID],
      body: noBody,
      responses: {
        200: {
          name: 'ChangeList',
          description: 'The changes.',
          content: ARRAY,
          alternative: EVENTS,
          head: { name: 'ChangeListHead', description: 'The headers of the list of changes.' },
        },
      },
      failures: [410],
      run: (context) => (context.mediaType === EVENT_STREAM ? stream(context) : page(context)),
    }),
  },
});

async function page(context: RequestContext<undefined>): Promise<HttpResponse> {
  const { services, mediaType } = context;
  const confirm = () => confirmCaller(context);
  const query = { ...parseQuery(context.request.search), subject: subjectOf(context), confirm };
  await expectStart(context, query.since);
  const gone = new AbortController();
  const endListening = context.request.whenGone(() => gone.abort());
  const waiting = services.changes.page(query, viewOf(context), gone.signal);
  const { text: body, last } = await waiting.finally(endListening);
  return {
    status: 200,
    headers: { 'Content-Type': mediaType, [CATALOG_SEQUENCE]: String(last) },
    body,
  };
}

async function stream(context: RequestContext<undefined>): Promise<HttpResponse> {
  const { request, services } = context;
  const { since } = parseQuery(request.search);
  const after = parseLastEventId(header(request, 'last-event-id')) ?? since;
  await expectStart(context, after);
  const headers = {
    'Content-Type': EVENT_STREAM,
    [CATALOG_SEQUENCE]: String(services.changes.sequence),
  };
  const isAllowed = () => isStillAllowed(request, services.tokens);
  const body = services.changes.events(after, subjectOf(context), viewOf(context), isAllowed);
  return { status: 200, headers, body };
}

/** Waits for the change set after which the changes begin, if another process may have shown it. */
async function expectStart(context: RequestContext<undefined>, after: number | null) {
  if (after === null) return;
  await context.services.changes.awaited.expect(after, subjectOf(context));
}

function viewOf(context: RequestContext<undefined>): { readonly subjects: boolean } {
  return { subjects: mayActAs(callerOf(context).role, 'admin') };
}

/** @throws CatalogError `malformed_query`. */
function parseQuery(search: string) {
  const sent = parseParameters(KNOWN, search);
  const limit = parseCount(sent, 'limit', DEFAULT_LIMIT, 1, MAX_LIMIT);
  return { since: parseSince(sent), limit, wait: parseWait(sent) };
}

/** @returns milliseconds. */
function parseWait(sent: Parameters): number {
  const value = sent.get('wait');
  if (value === undefined) return 0;
  const seconds = /^0{1,9}s$/.test(value) ? 0 : durationIn(value);
  if (seconds !== null && seconds <= MAX_WAIT_S) return seconds * 1000;
  throw malformed('wait', `must be a duration such as 30s, up to ${MAX_WAIT_S}s`);
}

/** @throws CatalogError `malformed_request`. */
function parseLastEventId(value: string | undefined): number | null {
  if (value === undefined || value === '') return null;
  const id = parseSequence(value);
  if (id !== null) return id;
  throw new CatalogError(
    'malformed_request',
    'Last-Event-ID must be the id of an event, which is the number of a change set',
  );
}
