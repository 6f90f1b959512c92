/**
 * The kinds that are not part of the catalog: the webhooks, and the kinds whose rows the service
 * writes itself, in the commit of the write that they are about. The tables of the latter are
 * bounded: the oldest rows are deleted to make room for the newest.
 */
import { serverSet, DEFAULTS, document, id, internal, input } from './declare.ts';
import type { Kind } from './kind.ts';
import {
  action,
  amount,
  documentText,
  flag,
  identifier,
  instant,
  longText,
  optionalIdentifier,
  optionalInstant,
  optionalText,
} from './schemas.ts';
import { resourceNames, webhookUrl } from './webhook-schemas.ts';

/** The attributes that a bounded table needs for its bound (src/store/bounded.ts). */
const BOOKKEEPING = {
  /** The id of the oldest row that was kept when this one was added. */
  oldest: internal(identifier),
  /** The weight of all rows added so far, up to and including this one. */
  bytes: internal(amount),
};

/** The responses to creations that clients may retry. Each subject has its own shelf. */
export const idempotency_keys = {
  ...DEFAULTS,
  name: 'idempotency_keys',
  label: 'idempotency key',
  plural: 'idempotency keys',
  path: null,
  audited: false,
  published: false,
  bulk: false,
  keyword: 'key',
  weight: { texts: ['body'], rest: 0 },
  shelf: 'shelf',
  attributes: {
    id,
    /** JSON of the subject and the key. */
    key: input(longText),
    /** Of the request: it tells a retry from another request with the same key. */
    digest: input(longText),
    /** When the response was made, in milliseconds since the epoch. */
    time: input(amount),
    ...BOOKKEEPING,
    /** The shelf in whose bound the row counts. Rows without one are kept until they expire. */
    shelf: internal(longText, true),
    /** The number of rows added to the shelf so far, including this one. */
    nth: internal(amount, true),
    /** The id of the new row; null for an array of objects. */
    created: input(optionalIdentifier),
    etag: input(longText),
    body: input(longText),
  },
} as const satisfies Kind;

/** Who wrote what under `/admin/`. */
export const audits = {
  ...DEFAULTS,
  name: 'audits',
  label: 'audit entry',
  plural: 'audit entries',
  path: '/admin/audits/',
  adminOnly: true,
  readOnly: true,
  audited: false,
  published: false,
  bulk: false,
  // The rest is what `texts` does not count: id, time, action, names and punctuation.
  weight: { texts: ['subject', 'before', 'after'], rest: 256 },
  attributes: {
    id,
    time: serverSet('', {
      schema: instant,
      searched: true,
      range: 'period',
      meaning: 'When it was written, UTC.',
    }),
    subject: serverSet('', {
      schema: optionalText,
      filter: 'text',
      searched: true,
      meaning: 'The subject of the token; null if the write needed no token.',
    }),
    action: serverSet('', { schema: action, searched: true, meaning: 'What was done to the row.' }),
    resource: serverSet('', {
      filter: 'text',
      searched: true,
      meaning:
        'The name of the collection in the path; `sku_specs` are the specification records, `users` the accounts.',
    }),
    resource_id: serverSet(0, {
      schema: identifier,
      filter: 'id',
      meaning:
        'The id of the row that was written; for an account, a number derived from its name.',
    }),
    before: document(documentText, 'The stored attributes before the write; null for a new row.'),
    after: document(documentText, 'The stored attributes after the write; null for a deleted row.'),
    ...BOOKKEEPING,
  },
} as const satisfies Kind;

/** Where changes are delivered (spec 14.5). Their secrets are not here: src/auth/webhook-key.ts. */
export const webhooks = {
  ...DEFAULTS,
  name: 'webhooks',
  label: 'webhook',
  plural: 'webhooks',
  path: '/admin/webhooks/',
  adminOnly: true,
  listed: false,
  published: false,
  bulk: false,
  attributes: {
    id,
    url: input(webhookUrl, {
      searched: true,
      meaning: 'The URL to which changes are sent by POST.',
    }),
    resources: input(resourceNames, {
      default: '[]',
      stored: longText,
      isList: true,
      meaning:
        'The resources whose changes are sent, named as in changes; an empty array means all.',
    }),
    active: input(flag, {
      default: true,
      range: 'flag',
      meaning: 'Whether changes are sent. The server sets it to false when it gives up.',
    }),
    created: serverSet('', {
      schema: instant,
      searched: true,
      meaning: 'When it was created, UTC.',
    }),
    failing_since: serverSet(null, {
      schema: optionalInstant,
      meaning: 'Since when every delivery has failed, UTC; null if the last one succeeded.',
    }),
    /** The change set that created it: changes after it are delivered. */
    origin: internal(amount),
    /** Names the key from which its secret is derived. */
    key: internal(longText),
  },
} as const satisfies Kind;
