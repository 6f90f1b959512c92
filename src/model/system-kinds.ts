/**
 * The kinds that are no part of the catalog: those whose rows the service itself writes, in the
 * commit of the write that they belong to, and the webhooks. The tables of the first are bounded:
 * the oldest rows make room for the newest.
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

/** The responses to creations that may be sent again, for each client on a shelf of its own. */
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
    /** Of the request: another request with the same key has another digest. */
    digest: input(longText),
    /** When the response was made, in milliseconds since the epoch. */
    time: input(amount),
    ...BOOKKEEPING,
    /** The rows whose bound it counts for. Rows without it are kept until they are over. */
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
  // What is not counted by its text: id, time, action, names and punctuation.
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
      meaning: 'Whom the token was for; null where none was asked for.',
    }),
    action: serverSet('', { schema: action, searched: true, meaning: 'What was done to the row.' }),
    resource: serverSet('', {
      filter: 'text',
      searched: true,
      meaning:
        'The collection, by its name in the path; `sku_specs` are the specification records, `users` the accounts.',
    }),
    resource_id: serverSet(0, {
      schema: identifier,
      filter: 'id',
      meaning: 'The id of the row that was written; of an account a number made from its name.',
    }),
    before: document(documentText, 'The attributes as they were stored; null of a new row.'),
    after: document(documentText, 'The attributes as they are stored now; null of a deleted row.'),
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
    url: input(webhookUrl, { searched: true, meaning: 'Where changes are sent by POST.' }),
    resources: input(resourceNames, {
      default: '[]',
      stored: longText,
      isList: true,
      meaning: 'The resources whose changes are sent, as changes name them; none means all.',
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
      meaning: 'When the first of the deliveries failed that have failed since, UTC; or null.',
    }),
    /** The change set that created it: changes after that one are delivered. */
    origin: internal(amount),
    /** Names the key from which its secret is made. */
    key: internal(longText),
  },
} as const satisfies Kind;
