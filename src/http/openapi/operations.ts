/** The operations on collections and items, from the declarations of the kinds. */
import { isWritable, type Kind, type Nesting } from '../../model/kind.ts';
import { KINDS } from '../../model/kinds.ts';
import { type Referrer, referrersOf } from '../../model/relations.ts';
import { JSON_TYPE } from '../rules/negotiation.ts';
import { type FailureStatus, failures } from './failures.ts';
import { componentName, type JsonObject, type Named, ref, withArticle } from './names.ts';
import { listParameters, named } from './parameters.ts';
import { arrayOf, jsonBody, oneOrMany } from './responses.ts';

/** A kind by a path of its own, or by that of a nesting. */
interface Place {
  readonly kind: Kind;
  readonly nesting: Nesting | null;
  /** Whether writing takes a token where reading does not. */
  readonly protectsOpen: boolean;
}

/** Whether anybody may do it. */
function isOpen({ kind, protectsOpen }: Place, writes: boolean): boolean {
  return kind.public && !(writes && protectsOpen);
}

/** The methods of a collection. */
export function collectionPath(place: Place): JsonObject {
  const { nesting, kind } = place;
  const writable = isWritable(kind, nesting);
  const list = listOperation(place);
  return {
    ...(nesting !== null && { parameters: named('pk') }),
    get: list,
    head: headOf(list, 'ListHead'),
    options: optionsOperation(place, 'List'),
    ...(writable && { post: createOperation(place) }),
    ...(writable && nesting === null && kind.bulk && { patch: changeAllOperation(place) }),
  };
}

/** The methods of an item. */
export function itemPath(place: Place): JsonObject {
  const { kind, nesting } = place;
  const read = readOperation(place);
  const writable = isWritable(kind, nesting);
  return {
    parameters: nesting === null ? named('pk') : named('pk', 'child'),
    get: read,
    head: headOf(read, 'ItemHead'),
    options: optionsOperation(place, ''),
    ...(writable &&
      nesting === null && {
        put: updateOperation(place, 'replace'),
        patch: updateOperation(place, 'change'),
      }),
    ...(writable && { delete: deleteOperation(place) }),
  };
}

function listOperation(place: Place): JsonObject {
  const { kind } = place;
  const unpaged = kind.unpaged ? ' Without any of these four, all of them.' : '';
  return {
    ...operation(place, 'list', 'List'),
    description: `Paged by \`page\` and \`per_page\`, or by \`limit\` and \`offset\`.${unpaged} Of several filters all must hold.`,
    parameters: listParameters(kind),
    responses: {
      200: ref('responses', `${componentName(kind)}List`),
      ...readFailures(place, [400, 406]),
    },
  };
}

function createOperation(place: Place): JsonObject {
  const { kind } = place;
  const { bulk, label, plural } = kind;
  const name = componentName(kind);
  const several = `An array makes several ${plural}, all or none; the \`fields\` of a 422 then begin with the position.`;
  return {
    ...operation(place, 'create'),
    description: bulk ? several : `Makes one ${label}.`,
    parameters: named('idempotencyKey', 'ifMatch'),
    requestBody: bulk
      ? requestBody(oneOrMany(`${name}Input`), [`${name}Input`, `${name}InputList`])
      : requestBody(ref('schemas', `${name}Input`), [`${name}Input`]),
    responses: {
      201: ref('responses', `${name}Created`),
      ...writeFailures(place, [400, 412, 413, 415, 422]),
    },
  };
}

function changeAllOperation(place: Place): JsonObject {
  const name = componentName(place.kind);
  return {
    ...operation(place, 'change', 'List'),
    description:
      'Each element names an object by its `id`, and says what is to change of it: all or none. The `fields` of a 422 begin with the position; an unknown `id` is 422 as well.',
    parameters: named('ifMatch'),
    requestBody: requestBody(arrayOf(`${name}Update`, { minItems: 1 }), [`${name}UpdateList`]),
    responses: {
      200: ref('responses', `${name}ListChanged`),
      ...writeFailures(place, [400, 412, 413, 415, 422]),
    },
  };
}

function readOperation(place: Place): JsonObject {
  const { kind, nesting } = place;
  const tells = nesting === null && !kind.emptyNotFound;
  return {
    ...operation(place, 'read'),
    description: `With \`If-None-Match\` only if it has changed.${tells ? ' One that was deleted is 410, one that never was 404.' : ''}`,
    parameters: named('ifMatch', 'ifNoneMatch'),
    responses: {
      200: ref('responses', componentName(kind)),
      304: ref('responses', 'Unchanged'),
      ...readFailures(place, tells ? [404, 406, 410, 412] : [404, 406, 412], kind.emptyNotFound),
    },
  };
}

function updateOperation(place: Place, verb: 'replace' | 'change'): JsonObject {
  const { kind } = place;
  const name = componentName(kind);
  const [input, example, description] =
    verb === 'replace'
      ? ['Input', 'Replacement', 'What is left out gets its default.']
      : ['Patch', 'Patch', 'What is left out stays as it is.'];
  return {
    ...operation(place, verb),
    description: `${description} With \`If-Match\` only if nobody has changed it since.`,
    parameters: named('ifMatch', 'ifNoneMatch'),
    requestBody: requestBody(ref('schemas', `${name}${input}`), [`${name}${example}`]),
    responses: {
      200: ref('responses', name),
      ...writeFailures(place, [400, 404, 412, 413, 415, 422], kind.emptyNotFound),
    },
  };
}

function deleteOperation(place: Place): JsonObject {
  const { kind } = place;
  const statuses: FailureStatus[] = [404, 412];
  const referrers = referrersOf(kind.name);
  const holding = referrers.filter(({ cascade }) => !cascade);
  const going = referrers.filter(({ cascade }) => cascade);
  if (holding.length > 0) statuses.push(409);
  if (kind.refusalIsValidation) statuses.push(422);
  return {
    ...operation(place, 'delete'),
    description: [
      'The id is never used again.',
      ...(holding.length > 0 ? [`Refused as long as ${pluralsOf(holding)} refer to it.`] : []),
      ...(going.length > 0 ? [`Its ${pluralsOf(going)} go with it.`] : []),
    ].join(' '),
    parameters: named('ifMatch', 'ifNoneMatch'),
    responses: {
      204: ref('responses', 'Deleted'),
      ...writeFailures(place, statuses, kind.emptyNotFound),
    },
  };
}

/** "specifications or SKUs". */
function pluralsOf(referrers: readonly Referrer[]): string {
  return [...new Set(referrers.map(({ kind }) => kind.plural))].join(' or ');
}

function optionsOperation(place: Place, many: '' | 'List'): JsonObject {
  return {
    ...operation(place, 'describe', many),
    description: 'The methods, and the attributes that a client may send. No token is asked for.',
    security: [],
    responses: { 200: ref('responses', 'Options'), ...failures([500]) },
  };
}

/** GET without a body. */
export function headOf(read: JsonObject, found: string): JsonObject {
  const { operationId, summary, responses } = read as Record<string, string> & {
    readonly responses: Named;
  };
  const heads = Object.entries(responses).map(([status, { $ref }]) => {
    if (status === '200') return [status, ref('responses', found)];
    return [status, status === '304' ? { $ref } : { $ref: `${String($ref)}Head` }];
  });
  return {
    ...read,
    operationId: `head${String(operationId).replace(/^(?:list|read)/, '')}`,
    summary: `${summary}: the headers alone`,
    responses: Object.fromEntries(heads),
  };
}

/** OPTIONS of a path beside those of the kinds. @param failing statuses beyond 500. */
export function optionsOf(
  what: string,
  summary: string,
  tag: string,
  failing: readonly FailureStatus[] = [],
): JsonObject {
  return {
    operationId: `describe${what}`,
    summary,
    description: 'The methods, and the attributes that a client may send. No token is asked for.',
    tags: [tag],
    security: [],
    responses: { 200: ref('responses', 'Options'), ...failures([...failing, 500]) },
  };
}

const VERBS = {
  list: 'List',
  create: 'Create',
  read: 'Read',
  replace: 'Replace',
  change: 'Change',
  delete: 'Delete',
  describe: 'Describe',
} as const;

function operation(place: Place, verb: keyof typeof VERBS, many: '' | 'List' = ''): JsonObject {
  const { kind, nesting } = place;
  const writes = !(verb === 'list' || verb === 'read' || verb === 'describe');
  const parent = nesting === null ? null : KINDS[nesting.parent];
  const what = many === 'List' ? kind.plural : withArticle(kind.label);
  return {
    operationId: `${verb}${componentName(kind)}${many}${parent === null ? '' : `Of${componentName(parent)}`}`,
    summary: `${VERBS[verb]} ${what}${parent === null ? '' : ` of ${withArticle(parent.label)}`}`,
    tags: [kind.path === null && parent !== null ? parent.plural : kind.plural],
    security: isOpen(place, writes) ? [] : [{ token: [] }],
  };
}

function readFailures(
  place: Place,
  statuses: readonly FailureStatus[],
  emptyNotFound = false,
): Named {
  const parent: FailureStatus[] = place.nesting === null ? [] : [404];
  const token: FailureStatus[] = place.kind.adminOnly ? [401, 403] : [401];
  const access: FailureStatus[] = isOpen(place, false) ? [] : token;
  return failures([...access, ...parent, ...statuses, 500], emptyNotFound);
}

function writeFailures(
  place: Place,
  statuses: readonly FailureStatus[],
  emptyNotFound = false,
): Named {
  const parent: FailureStatus[] = place.nesting === null ? [] : [404];
  const access: FailureStatus[] = isOpen(place, true) ? [] : [401, 403];
  return failures([...access, ...parent, ...statuses, 500, 503], emptyNotFound);
}

/** A body may be declared as any `+json`, or not at all; the document names the plain type. */
function requestBody(schema: JsonObject, shown: readonly string[]): JsonObject {
  return { required: true, content: jsonBody(schema, shown, [JSON_TYPE]) };
}
