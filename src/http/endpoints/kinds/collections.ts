/** Collections: GET lists, POST creates one object (spec 1.2). */
import { isWritable, type Kind } from '../../../model/kind.ts';
import type { Address } from '../../../resources/address.ts';
import { parseInput } from '../../../resources/input.ts';
import { parseQuery } from '../../../resources/query.ts';
import type { Creation, Sender } from '../../../resources/idempotency.ts';
import { inSlices } from '../../../slices.ts';
import { type HttpResponse, whenReady } from '../../message.ts';
import { noBody } from '../../operations/body.ts';
import {
  type Operation,
  operation,
  type RequestContext,
  type ResponseDeclaration,
} from '../../operations/operation.ts';
import { IDEMPOTENCY_KEY } from '../../operations/parameters.ts';
import { definePath, type Path } from '../../operations/path.ts';
import { subjectOf } from '../../rules/authorization.ts';
import { idempotencyKey } from '../../rules/idempotency-key.ts';
import { JSON_OFFERS } from '../../rules/negotiation.ts';
import { pageOf } from '../lists.ts';
import { bodyOf } from './attributes.ts';
import { inputOf, manyOf, oneOf } from './shapes.ts';
import { listParameters } from './list-parameters.ts';
import { componentName } from './names.ts';
import {
  addressing,
  namesOf,
  parametersOf,
  type Place,
  roleFor,
  tagOf,
  templateOf,
} from './place.ts';

/** @param post the operation that creates an object; the general one if left out. */
export function collectionPath(place: Place, post?: Operation<Address>): Path {
  const { kind, nesting } = place;
  const addressOf = addressing(place);
  return definePath<Address>({
    template: templateOf(place),
    parameters: parametersOf(place),
    tag: tagOf(place),
    ...namesOf(place, 'List'),
    label: kind.label,
    offers: JSON_OFFERS,
    resolve(params, { records }) {
      const address = addressOf(params);
      if (address.parent !== null) records.requireParent(address);
      return address;
    },
    operations: {
      GET: listOperation(place),
      ...(isWritable(kind, nesting) && { POST: post ?? createOperation(place) }),
    },
  });
}

function listOperation(place: Place): Operation<Address> {
  const { kind } = place;
  const { name, about } = namesOf(place, 'List');
  const unpaged = kind.unpaged
    ? ' Without any of these four parameters, all objects are returned.'
    : '';
  return operation({
    id: `list${name}`,
    summary: `List ${about}`,
    description: `Paged by \`page\` and \`per_page\`, or by \`limit\` and \`offset\`.${unpaged} An object must match all filters.`,
    role: roleFor(place, 'GET'),
    parameters: listParameters(kind),
    body: noBody,
    responses: { 200: listResponse(kind) },
    run: list,
  });
}

/** The declaration of the response to GET of a list. */
export function listResponse(kind: Kind): ResponseDeclaration {
  return {
    name: `${componentName(kind)}List`,
    description: `A page of ${kind.plural}.`,
    headers: ['X-Total-Count'],
    content: manyOf(kind),
    head: { name: 'ListHead', description: 'The headers of the page.' },
  };
}

function list(context: RequestContext<Address>): HttpResponse | Promise<HttpResponse> {
  const { request, services, found } = context;
  const query = parseQuery(found.kind, request.search);
  return whenReady(services.records.list(found, query.selection), (listing) =>
    pageOf(context, query, listing, segmentsOf(found)),
  );
}

/** What follows the parent in the path of a collection: the index, unless it is nested. */
function segmentsOf({ kind, parent }: Address): string {
  return parent === null ? (kind.path ?? '').slice(1) : `${parent.nesting.segment}/`;
}

function createOperation(place: Place): Operation<Address> {
  const { kind } = place;
  const { name, about } = namesOf(place, '');
  return operation({
    id: `create${name}`,
    summary: `Create ${about}`,
    description: `Creates one ${kind.label}.`,
    role: roleFor(place, 'POST'),
    parameters: [IDEMPOTENCY_KEY],
    body: bodyOf(kind, inputOf(kind), (body) => inSlices(parseInput(kind, body, 'whole'))),
    responses: { 201: createdResponse(kind) },
    run: create,
  });
}

function createdResponse(kind: Kind): ResponseDeclaration {
  return {
    name: `${componentName(kind)}Created`,
    description: `The new ${kind.label}.`,
    headers: ['Location', 'ETag', 'Idempotent-Replayed?', 'Preference-Applied?'],
    content: oneOf(kind),
  };
}

function create(context: RequestContext<Address>, body: unknown): Promise<HttpResponse> {
  const { services, found } = context;
  return creation(context, (sender) => services.records.create(found, body, sender));
}

/**
 * The response to POST, of a collection or of several objects.
 *
 * @param run creates something for the sender of the request.
 * @throws CatalogError `malformed_request`, and what `run` throws.
 */
export async function creation(
  context: RequestContext<unknown>,
  run: (sender: Sender) => Promise<Creation>,
): Promise<HttpResponse> {
  const { request, mediaType } = context;
  const sender = { subject: subjectOf(context), key: idempotencyKey(request) };
  const { id, text, etag, replayed } = await run(sender);
  const headers = {
    'Content-Type': mediaType,
    ...(id !== null && { Location: `${request.path}${id}/` }),
    ...(etag !== null && { ETag: etag }),
    ...(replayed && { 'Idempotent-Replayed': 'true' }),
  };
  return { status: 201, headers, body: text };
}
