/** `/admin/summary/`: the catalog at a glance, for the first page of the console (spec 13.3). */
import { mayActAs } from '../../auth/roles.ts';
import { COLLECTIONS } from '../../model/kinds.ts';
import type { HttpResponse } from '../message.ts';
import { noBody } from '../operations/body.ts';
import { count, instant, positive, text } from '../operations/common-schemas.ts';
import { type JsonSchema, negotiatedJson, type Shape } from '../operations/content.ts';
import { operation, type RequestContext } from '../operations/operation.ts';
import { definePath, type Path } from '../operations/path.ts';
import { callerOf } from '../rules/authorization.ts';
import { JSON_OFFERS } from '../rules/negotiation.ts';
import { CONSOLE_TAG } from './tags.ts';

const NAMES = COLLECTIONS.flatMap(({ name, published }) => (published ? [name] : []));

/** The schema of an object that has all of these members. */
function objectOf(properties: Readonly<Record<string, JsonSchema>>, more: object = {}): JsonSchema {
  return { type: 'object', ...more, properties, required: Object.keys(properties) };
}

const EXAMPLE = {
  counts: Object.fromEntries(NAMES.map((name, index) => [name, 6 * (index + 1)])),
  pages: { waiting: 0, failed: 0 },
  store: { bytes: 48_213 },
  currency: 'EUR',
  warnings: [{ code: 'no_backup', message: 'The last backup was made 9 days ago.' }],
  changes: [
    {
      id: 123,
      time: '2026-11-21T17:58:07.415Z',
      subject: 'ann',
      action: 'update',
      resource: 'brands',
      resource_id: 9,
      label: 'Quill',
    },
  ],
};

const CHANGE = objectOf({
  id: { ...positive, description: 'The id of the audit entry.' },
  time: instant,
  subject: { type: ['string', 'null'] },
  action: { ...text, enum: ['create', 'update', 'delete'] },
  resource: text,
  resource_id: positive,
  label: { type: ['string', 'null'], description: 'The name of the row, if it has one.' },
});

const SUMMARY: Shape = {
  name: 'Summary',
  schema: () =>
    objectOf(
      {
        counts: objectOf(Object.fromEntries(NAMES.map((name) => [name, count])), {
          description: 'Objects by collection.',
        }),
        pages: objectOf({
          waiting: { ...count, description: 'Pages that wait to be written.' },
          failed: {
            ...count,
            description: 'Pages that could not be written and are tried again.',
          },
        }),
        store: objectOf({
          bytes: { ...count, description: 'The size of the files of the store.' },
        }),
        currency: {
          ...text,
          pattern: '^[A-Z]{3}$',
          description: 'The currency of all prices (ISO 4217).',
        },
        warnings: {
          type: 'array',
          description: 'Problems that need the attention of the operator; empty if there are none.',
          items: objectOf({
            code: { ...text, description: '`disk_nearly_full`, `pages_failing`, `no_backup` …' },
            message: text,
          }),
        },
        changes: {
          type: ['array', 'null'],
          description:
            'The latest 20 entries of the audit trail, for the role `admin`; otherwise null.',
          items: CHANGE,
        },
      },
      { description: 'The catalog at a glance.', examples: [EXAMPLE] },
    ),
};

export const SUMMARY_PATH: Path = definePath({
  template: '/admin/summary/',
  executor: 'owner',
  tag: CONSOLE_TAG,
  name: 'Summary',
  about: 'the summary',
  label: 'summary',
  offers: JSON_OFFERS,
  resolve: () => undefined,
  operations: {
    GET: operation({
      id: 'readSummary',
      summary: 'Read the summary',
      description:
        'The number of objects, the pages that wait to be written, and the problems that need the attention of the operator.',
      role: 'viewer',
      body: noBody,
      responses: {
        200: {
          name: 'Summary',
          description: 'The summary.',
          content: negotiatedJson(SUMMARY, {
            Summary: () => ({ summary: 'A summary', value: EXAMPLE }),
          }),
        },
      },
      run: read,
    }),
  },
});

async function read(context: RequestContext<undefined>): Promise<HttpResponse> {
  const { services, mediaType } = context;
  const summary = await services.summary.read();
  const changes = mayActAs(callerOf(context).role, 'admin') ? services.summary.changes() : null;
  return {
    status: 200,
    headers: { 'Content-Type': mediaType },
    body: JSON.stringify({ ...summary, changes }),
  };
}
