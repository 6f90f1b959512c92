/** Items: GET, PUT, PATCH and DELETE of one object (spec 1.2). */
import { isWritable } from '../../../model/kind.ts';
import { type Referrer, referrersOf } from '../../../model/relations.ts';
import type { Address } from '../../../resources/address.ts';
import { type Mode, parseInput } from '../../../resources/input.ts';
import type { Precondition } from '../../../resources/records.ts';
import type { Readable } from '../../../resources/cache/representation-cache.ts';
import { inSlices } from '../../../slices.ts';
import { type HttpResponse, isRead, whenReady } from '../../message.ts';
import { noBody } from '../../operations/body.ts';
import { type Operation, operation, type RequestContext } from '../../operations/operation.ts';
import { definePath, type Path } from '../../operations/path.ts';
import { subjectOf } from '../../rules/authorization.ts';
import { patchModeOf } from '../../rules/json-body.ts';
import { JSON_OFFERS } from '../../rules/negotiation.ts';
import { itemLinks } from '../../rules/links.ts';
import { type Conditions, requireWritable } from '../../rules/preconditions.ts';
import { bodyOf } from './attributes.ts';
import { oneOf, patchOf, replacementOf } from './shapes.ts';
import { componentName } from './names.ts';
import {
  addressing,
  itemParameterOf,
  namesOf,
  parametersOf,
  type Place,
  roleFor,
  tagOf,
  templateOf,
} from './place.ts';

/** An item that exists. */
interface Item {
  readonly address: Address;
  readonly id: number;
}

/**
 * The path of one object. Nested, it has no PUT and PATCH: those are at the path of the kind
 * itself.
 */
export function itemPath(place: Place): Path {
  const { kind, nesting } = place;
  const parameter = itemParameterOf(place);
  const addressOf = addressing(place);
  const writable = isWritable(kind, nesting);
  return definePath<Item>({
    template: `${templateOf(place)}{${parameter.name}}/`,
    parameters: [...parametersOf(place), parameter],
    tag: tagOf(place),
    ...namesOf(place, ''),
    label: kind.label,
    emptyNotFound: kind.emptyNotFound,
    offers: JSON_OFFERS,
    resolve(params, { records }, { method }) {
      const address = addressOf(params);
      const id = params.id(parameter.name);
      records.requireItem(address, id, isRead(method));
      return { address, id };
    },
    validators: ({ address, id }, { records }) => records.read(address, id),
    operations: {
      GET: readOperation(place),
      ...(writable &&
        nesting === null && {
          PUT: updateOperation(place, true),
          PATCH: updateOperation(place, false),
        }),
      ...(writable && { DELETE: deleteOperation(place) }),
    },
  });
}

const ITEM_HEAD = { name: 'ItemHead', description: 'The item exists.' };

function readOperation(place: Place): Operation<Item> {
  const { kind, nesting } = place;
  const { name, about } = namesOf(place, '');
  const tells = nesting === null && !kind.emptyNotFound;
  return operation({
    id: `read${name}`,
    summary: `Read ${about}`,
    description: `With \`If-None-Match\`, the object is sent only if it has changed.${tells ? ' A deleted item is 410, and one that never existed is 404.' : ''}`,
    role: roleFor(place, 'GET'),
    body: noBody,
    responses: {
      200: {
        name: componentName(kind),
        description: `The ${kind.label}.`,
        headers: ['ETag'],
        content: oneOf(kind),
        head: ITEM_HEAD,
      },
    },
    failures: tells ? [410] : [],
    run: read,
  });
}

/** @param whole PUT instead of PATCH. */
function updateOperation(place: Place, whole: boolean): Operation<Item> {
  const { kind } = place;
  const { name, about } = namesOf(place, '');
  const rest = whole
    ? 'An optional attribute that is left out gets its default.'
    : 'An attribute that is left out stays as it is.';
  return operation({
    id: `${whole ? 'replace' : 'change'}${name}`,
    summary: `${whole ? 'Replace' : 'Change'} ${about}`,
    description: `${rest} With \`If-Match\`, the request fails if the ${kind.label} has changed since it was read.`,
    role: roleFor(place, whole ? 'PUT' : 'PATCH'),
    body: bodyOf(kind, whole ? replacementOf(kind) : patchOf(kind), (body) =>
      inSlices(parseInput(kind, body, whole ? 'whole' : 'partial')),
    ),
    responses: {
      200: {
        name: `${componentName(kind)}Changed`,
        description: `The ${kind.label} after the change.`,
        headers: ['ETag', 'Preference-Applied?'],
        content: oneOf(kind),
        head: ITEM_HEAD,
      },
    },
    run: (context: RequestContext<Item>, body) =>
      update(whole ? 'whole' : patchModeOf(context.request), context, body),
  });
}

function deleteOperation(place: Place): Operation<Item> {
  const { kind } = place;
  const { name, about } = namesOf(place, '');
  const referrers = referrersOf(kind.name);
  const holding = referrers.filter(({ cascade }) => !cascade);
  const cascading = referrers.filter(({ cascade }) => cascade);
  return operation({
    id: `delete${name}`,
    summary: `Delete ${about}`,
    description: [
      'The id is never used again.',
      ...(holding.length > 0 ? [`If ${pluralsOf(holding)} refer to it, the response is 409.`] : []),
      ...(cascading.length > 0 ? [`Its ${pluralsOf(cascading)} are deleted with it.`] : []),
    ].join(' '),
    role: roleFor(place, 'DELETE'),
    body: noBody,
    responses: { 204: { name: 'Deleted', description: 'Deleted.' } },
    failures: [
      ...(holding.length > 0 ? ([409] as const) : []),
      ...(kind.refusalIsValidation ? ([422] as const) : []),
    ],
    run: remove,
  });
}

/** "categories, SPUs or SKUs". */
function pluralsOf(referrers: readonly Referrer[]): string {
  const plurals = [...new Set(referrers.map(({ kind }) => kind.plural))];
  const last = plurals.pop() ?? '';
  return plurals.length > 0 ? `${plurals.join(', ')} or ${last}` : last;
}

function read(context: RequestContext<Item>): HttpResponse | Promise<HttpResponse> {
  const { services, found } = context;
  const current = services.records.read(found.address, found.id);
  return whenReady(current, (representation) => respond(representation, context));
}

async function update(
  mode: Mode,
  context: RequestContext<Item>,
  body: unknown,
): Promise<HttpResponse> {
  const { services, found, conditions } = context;
  const { address, id } = found;
  const subject = subjectOf(context);
  return respond(
    await services.records.update(address, id, mode, body, preconditionOf(conditions), subject),
    context,
  );
}

async function remove(context: RequestContext<Item>): Promise<HttpResponse> {
  const { services, found, conditions } = context;
  const { address, id } = found;
  await services.records.remove(address, id, preconditionOf(conditions), subjectOf(context));
  return { status: 204, headers: {}, body: null };
}

function respond(
  { text, etag }: Readable,
  { mediaType, request: { path } }: RequestContext<Item>,
): HttpResponse {
  const headers = { 'Content-Type': mediaType, ETag: etag, Link: itemLinks(path) };
  return { status: 200, headers, body: text };
}

/** The conditions of a write are checked again when it is carried out. */
function preconditionOf(conditions: Conditions | null): Precondition {
  return conditions === null ? null : ({ etag }) => requireWritable(conditions, etag);
}
