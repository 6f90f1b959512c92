/** `/admin/<collection>/bulk/`: several objects in one request, all or none (spec 9.1). */
import type { Kind } from '../../../model/kind.ts';
import { parseInputs, parseUpdates } from '../../../resources/input.ts';
import type { HttpResponse } from '../../message.ts';
import { type Operation, operation, type RequestContext } from '../../operations/operation.ts';
import { IDEMPOTENCY_KEY } from '../../operations/parameters.ts';
import { definePath, type Path } from '../../operations/path.ts';
import { subjectOf } from '../../rules/authorization.ts';
import { JSON_OFFERS } from '../../rules/negotiation.ts';
import { bodyOf } from './attributes.ts';
import { creation } from './collections.ts';
import { inputsOf, manyOf, updatesOf } from './shapes.ts';
import { componentName } from './names.ts';
import { type Place, roleFor, tagOf, templateOf } from './place.ts';

/** @param place of a kind that has bulk operations, at its own path. */
export function bulkPath(place: Place): Path {
  const { kind } = place;
  return definePath<Kind>({
    template: `${templateOf(place)}bulk/`,
    tag: tagOf(place),
    name: `${componentName(kind)}Bulk`,
    about: `several ${kind.plural} at once`,
    label: kind.label,
    offers: JSON_OFFERS,
    resolve: () => kind,
    operations: { POST: createAllOperation(place), PATCH: changeAllOperation(place) },
  });
}

function createAllOperation(place: Place): Operation<Kind> {
  const { kind } = place;
  const name = componentName(kind);
  return operation({
    id: `create${name}List`,
    summary: `Create several ${kind.plural}`,
    description:
      'Creates one object from each element, all or none. In a 422, each key of `fields` begins with the position of the element.',
    role: roleFor(place, 'POST'),
    parameters: [IDEMPOTENCY_KEY],
    body: bodyOf(kind, inputsOf(kind), (body) => parseInputs(kind, body)),
    responses: {
      201: {
        name: `${name}ListCreated`,
        description: `The new ${kind.plural} in the order of the request.`,
        headers: ['Idempotent-Replayed?', 'Preference-Applied?'],
        content: manyOf(kind),
      },
    },
    run: createAll,
  });
}

function changeAllOperation(place: Place): Operation<Kind> {
  const { kind } = place;
  const name = componentName(kind);
  return operation({
    id: `change${name}List`,
    summary: `Change several ${kind.plural}`,
    description:
      'Each element has the `id` of an object and the attributes to change. Either all objects are changed or none. In a 422, each key of `fields` begins with the position of the element. An unknown `id` is 422 as well.',
    role: roleFor(place, 'PATCH'),
    body: bodyOf(kind, updatesOf(kind), (body) => parseUpdates(kind, body)),
    responses: {
      200: {
        name: `${name}ListChanged`,
        description: `The ${kind.plural} in the order of the request.`,
        headers: ['Preference-Applied?'],
        content: manyOf(kind),
      },
    },
    run: changeAll,
  });
}

function createAll(context: RequestContext<Kind>, body: unknown): Promise<HttpResponse> {
  const { services, found } = context;
  return creation(context, (sender) => services.records.createAll(found, body, sender));
}

async function changeAll(context: RequestContext<Kind>, body: unknown): Promise<HttpResponse> {
  const { services, found, mediaType } = context;
  const text = await services.records.updateAll(found, body, subjectOf(context));
  return { status: 200, headers: { 'Content-Type': mediaType }, body: text };
}
