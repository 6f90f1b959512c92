/**
 * The declarations of what the service itself writes down, in the commit that it tells of. Both
 * tables are bounded: the oldest rows make room for the newest.
 */
import { serverSet, DEFAULTS, document, id, internal, input } from './declare.ts';
import type { Kind } from './kind.ts';
import {
  action,
  amount,
  documentText,
  identifier,
  instant,
  longText,
  optionalIdentifier,
  optionalText,
} from './schemas.ts';

/** What a bounded table keeps in each row of itself (src/store/bounded.ts). */
const BOOKKEEPING = {
  /** The oldest row that was kept when this one came. */
  oldest: internal(identifier),
  /** What all rows so far weigh, up to and with this one. */
  bytes: internal(amount),
};

/** Answers to requests that may be sent again. */
export const idempotency_keys = {
  ...DEFAULTS,
  name: 'idempotency_keys',
  label: 'idempotency key',
  plural: 'idempotency keys',
  path: null,
  audited: false,
  bulk: false,
  keyword: 'key',
  weight: { texts: ['body'], rest: 0 },
  attributes: {
    id,
    /** Whose key it is, and the key. */
    key: input(longText),
    /** Of the request, to tell another request with the same key. */
    digest: input(longText),
    /** When it was answered, in milliseconds since the epoch. */
    time: input(amount),
    ...BOOKKEEPING,
    /** What was created; null where it was an array. */
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
  bulk: false,
  // What is not counted by its text: id, time, action, names and punctuation.
  weight: { texts: ['subject', 'before', 'after'], rest: 256 },
  attributes: {
    id,
    time: serverSet('', { schema: instant, searched: true, meaning: 'When it was written, UTC.' }),
    subject: serverSet('', {
      schema: optionalText,
      filter: true,
      searched: true,
      meaning: 'Whom the token was for; null where none was asked for.',
    }),
    action: serverSet('', { schema: action, searched: true, meaning: 'What was done to the row.' }),
    resource: serverSet('', {
      filter: true,
      searched: true,
      meaning:
        'The collection, by its name in the path; `sku_specs` are the specification records.',
    }),
    resource_id: serverSet(0, {
      schema: identifier,
      filter: true,
      meaning: 'The id of the row that was written.',
    }),
    before: document(documentText, 'The attributes as they were stored; null of a new row.'),
    after: document(documentText, 'The attributes as they are stored now; null of a deleted row.'),
    ...BOOKKEEPING,
  },
} as const satisfies Kind;
