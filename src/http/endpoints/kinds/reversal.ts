/** `/admin/audits/<id>/reversal/`: undoes the write that an audit entry records (spec 1.14). */
import * as v from 'valibot';
import { mayActAs } from '../../../auth/roles.ts';
import { CatalogError } from '../../../errors.ts';
import type { Row } from '../../../model/kind.ts';
import { ALL_KINDS, KINDS } from '../../../model/kinds.ts';
import { flag } from '../../../model/schemas.ts';
import type { HttpResponse } from '../../message.ts';
import { json } from '../../operations/body.ts';
import { operation, type RequestContext } from '../../operations/operation.ts';
import type { Content } from '../../operations/content.ts';
import { PK } from '../../operations/parameters.ts';
import { definePath, type Path } from '../../operations/path.ts';
import { callerOf } from '../../rules/authorization.ts';
import { JSON_OFFERS } from '../../rules/negotiation.ts';
import { type Place, tagOf } from './place.ts';
import { oneOf } from './shapes.ts';
import { kindOf } from '../../../resources/audit/reversal.ts';

const { audits } = KINDS;

const PLACE: Place = { kind: audits, nesting: null, protectBooks: false };

const reversalRequest = v.pipe(
  v.object({
    force: v.pipe(
      v.optional(flag, false),
      v.description('Whether to overwrite rows that have changed since.'),
    ),
  }),
  v.description('How to undo a write.'),
);

const REVERSAL_INPUT = {
  summary: 'Only if the row has not changed since',
  value: { force: false },
};

export const REVERSAL_PATH: Path = definePath<Row>({
  template: `${audits.path}{${PK.name}}/reversal/`,
  parameters: [PK],
  tag: tagOf(PLACE),
  name: 'Reversal',
  about: 'undoing a write',
  label: 'reversal',
  offers: JSON_OFFERS,
  resolve: (params, { records }) =>
    records.find({ kind: audits, parent: null }, params.id(PK.name)),
  operations: {
    POST: operation({
      id: 'createReversal',
      summary: 'Undo a write',
      description:
        'The row gets the values that it had `before` the entry: a created row is deleted, a deleted row is restored with its id, and a changed row gets its old values. What the same request wrote to the specification records of a SKU is undone with it. All or none: if a row has changed since, the request is refused with 409 unless `force` is true. The reversal adds its own entries to the audit trail.',
      role: 'editor',
      body: json('ReversalInput', reversalRequest, REVERSAL_INPUT, { optional: true }),
      responses: {
        200: {
          name: 'Reversed',
          description: 'The restored object.',
          headers: ['ETag', 'Preference-Applied?'],
          content: anyObject(),
        },
        204: {
          name: 'ReversedByDeleting',
          description: 'The write had created the row; the row is now deleted.',
          headers: ['Preference-Applied?'],
        },
      },
      failures: [409],
      run: reverse,
    }),
  },
});

/** An object of any audited kind. */
function anyObject(): Content {
  const contents = ALL_KINDS.filter(({ audited }) => audited).map(oneOf);
  const [{ types } = oneOf(audits)] = contents;
  return {
    types,
    schema: { anyOf: contents.map(({ schema }) => schema) },
    shapes: contents.flatMap(({ shapes }) => shapes),
    examples: oneOf(KINDS.skus).examples,
  };
}

async function reverse(
  context: RequestContext<Row>,
  { force }: v.InferOutput<typeof reversalRequest>,
): Promise<HttpResponse> {
  const { services, found, mediaType } = context;
  const { role, subject } = callerOf(context);
  const kind = kindOf({ id: found.id, resource: String(found['resource']) });
  if (kind.adminOnly && !mayActAs(role, 'admin')) {
    throw new CatalogError('forbidden', `only an admin may undo a write to ${kind.plural}`);
  }
  const again = await services.undo.entry(kind, found.id, force, subject);
  if (again === null) return { status: 204, headers: {}, body: null };
  const { text, etag } = again;
  return { status: 200, headers: { 'Content-Type': mediaType, ETag: etag }, body: text };
}
