/** The operations of the table as OpenAPI writes them. */
import { isRead } from '../message.ts';
import type { BodyDescription } from '../operations/body.ts';
import type { Content, JsonObject } from '../operations/content.ts';
import type { OperationDescription, ResponseDeclaration } from '../operations/operation.ts';
import {
  CATALOG_MIN_SEQUENCE,
  IF_MATCH,
  IF_MODIFIED_SINCE,
  IF_NONE_MATCH,
  IF_UNMODIFIED_SINCE,
  type Parameter,
  PREFER,
} from '../operations/parameters.ts';
import type { Path } from '../operations/path.ts';
import { type FailureStatus, failures } from './failures.ts';
import { type Named, ref } from './refs.ts';

type Described = OperationDescription & { readonly body: BodyDescription };

/** The methods of a path. @param basePath "" or a path such as "/api". */
export function pathItem(path: Path, basePath: string): JsonObject {
  const item: Named = {};
  for (const [method, operation] of path.operations) {
    const described = operationObject(path, method, operation);
    item[method.toLowerCase()] = method === 'HEAD' ? headOf(described, operation) : described;
  }
  const { parameters, unversioned = false } = path;
  return {
    ...(unversioned && { servers: [{ url: basePath === '' ? '/' : basePath }] }),
    ...(parameters.length > 0 && { parameters: parameters.map(parameterRef) }),
    ...item,
    options: optionsObject(path),
  };
}

/** The parameters of an operation beyond those of its path: its own and the shared headers. */
export function parametersOf(path: Path, method: string, operation: Described): Parameter[] {
  const waits = mayWait(path, method) ? [CATALOG_MIN_SEQUENCE] : [];
  const prefers = operation.body.validated ? [PREFER] : [];
  const own = [...(operation.parameters ?? []), ...waits, ...prefers];
  if (!path.tagged) return isRead(method) ? own : [...own, IF_MATCH];
  const dated = Object.values(operation.responses).some(({ headers = [] }) =>
    headers.includes('Last-Modified?'),
  );
  return [
    ...own,
    IF_MATCH,
    IF_NONE_MATCH,
    ...(dated ? [IF_MODIFIED_SINCE, IF_UNMODIFIED_SINCE] : []),
  ];
}

function operationObject(path: Path, method: string, operation: Described): JsonObject {
  const { id, summary, description, role, body, responses } = operation;
  const parameters = parametersOf(path, method, operation).map(parameterRef);
  const succeeding = Object.entries(responses).map(([status, { name }]) => [
    status,
    ref('responses', name),
  ]);
  return {
    operationId: id,
    summary,
    description,
    tags: [path.tag.name],
    security: role === null ? [] : [{ token: [] }],
    ...(parameters.length > 0 && { parameters }),
    ...(body.content && {
      requestBody: {
        required: body.optional !== true,
        content: contentObject(body.content),
      },
    }),
    responses: {
      ...(path.tagged && isRead(method) && { 304: ref('responses', 'Unchanged') }),
      ...failures(failuresOf(path, method, operation), path.emptyNotFound),
      ...(Object.fromEntries(succeeding) as Named),
    },
  };
}

/** The failure statuses of an operation: those of the checks that apply to it, and its own. */
function failuresOf(path: Path, method: string, operation: Described): FailureStatus[] {
  const { role, body, parameters = [], failures: own = [] } = operation;
  const queried = parameters.some((parameter) => parameter.in === 'query');
  const statuses = new Set<FailureStatus>([500, ...own]);
  if (queried || body.content !== null || mayWait(path, method)) statuses.add(400);
  if (mayWait(path, method) || path.executorOf(method) === 'writer') statuses.add(503);
  if (role !== null) statuses.add(401).add(503);
  if (role === 'editor' || role === 'admin') statuses.add(403);
  if (path.parameters.length > 0) statuses.add(404);
  if (path.offers !== undefined && isRead(method)) statuses.add(406);
  if (path.tagged || !isRead(method)) statuses.add(412);
  if (body.content !== null) statuses.add(413).add(415).add(503);
  if (body.validated) statuses.add(422);
  return [...statuses];
}

/** HEAD: GET without a body. */
function headOf(read: JsonObject, operation: Described): JsonObject {
  const responses = read['responses'] as Named;
  const heads = Object.entries(responses).map(([status, response]) => {
    const own = operation.responses[Number(status)]?.head;
    if (own !== undefined) return [status, ref('responses', own.name)];
    return [status, status === '304' ? response : { $ref: `${String(response['$ref'])}Head` }];
  });
  return {
    ...read,
    operationId: `head${operation.id.replace(/^(?:list|read)/, '')}`,
    summary: `${operation.summary}: headers only`,
    responses: Object.fromEntries(heads),
  };
}

function optionsObject({ name, about, tag, memorable }: Path): JsonObject {
  return {
    operationId: `describe${name}`,
    summary: `Describe ${about}`,
    description: 'The methods and attributes that it accepts.',
    tags: [tag.name],
    security: [],
    responses: {
      200: ref('responses', 'Options'),
      // The router may reject a value of a parameter that may be any text.
      ...failures(memorable ? [500] : [404, 500]),
    },
  };
}

/** Whether `Catalog-Min-Sequence` has an effect. */
function mayWait({ catalogFree }: Path, method: string): boolean {
  return isRead(method) && catalogFree !== true;
}

function parameterRef({ component }: Parameter): JsonObject {
  return ref('parameters', component);
}

/** A body by media type, with references to its examples. */
export function contentObject(...contents: readonly Content[]): JsonObject {
  const entries = contents.flatMap(({ types, schema, examples }) => {
    const shown = Object.keys(examples).map((name) => [name, ref('examples', name)]);
    const media = { schema, examples: Object.fromEntries(shown) };
    return types.map((type) => [type, media]);
  });
  return Object.fromEntries(entries);
}

/** Every response that an operation declares, including the one to HEAD. */
export function responsesOf(operation: Described): ResponseDeclaration[] {
  return Object.values(operation.responses).flatMap((response) => {
    const { head, headers = [] } = response;
    return head === undefined ? [response] : [response, { ...head, headers }];
  });
}
