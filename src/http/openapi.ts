/** `GET /openapi.json`: OpenAPI 3.1 from the declarations that validate (DECISIONS 5). */
import type { Kind, Nesting } from '../model/kind.ts';
import { ALL_KINDS, COLLECTIONS, KINDS } from '../model/kinds.ts';
import { DEFAULT_SIZE, filterParameters, LARGEST_SIZE } from '../resources/query.ts';
import { scalarAttributes, visibleAttributes } from '../resources/representation.ts';
import { attributeSchema, type JsonSchema, writableAttributes } from './description.ts';
import { JSON_TYPE, VENDOR_TYPE } from './negotiate.ts';

const ERRORS: Readonly<Record<number, string>> = {
  400: 'The query or the body is malformed',
  401: 'No valid token',
  403: 'The role of the token does not allow it',
  404: 'There is no such item',
  406: 'Accept excludes JSON, or asks for an unknown version',
  409: 'Others still refer to the item',
  410: 'The item was deleted',
  412: 'If-Match or If-None-Match failed',
  413: 'The body is too large',
  415: 'The body is not declared as JSON',
  422: 'The body fails validation, or a database step failed',
  500: 'Unexpected fault; whether the request succeeded is not known',
};

const ref = (section: string, name: string) => ({ $ref: `#/components/${section}/${name}` });

/** @param basePath "" or a path such as "/api". */
export function openApiDocument(basePath: string, version: string): object {
  const paths: Record<string, object> = {};
  for (const [path, kind] of COLLECTIONS) {
    paths[path] = collectionPath(kind, null);
    paths[`${path}{pk}/`] = itemPath(kind, null);
  }
  for (const kind of ALL_KINDS) {
    for (const nesting of kind.nestings) {
      const path = `${KINDS[nesting.parent].path}{pk}/${nesting.segment}/`;
      paths[path] = collectionPath(kind, nesting);
      paths[`${path}{child}/`] = itemPath(kind, nesting);
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Catalog server',
      version,
      summary: "A shop's catalog: books, and behind tokens SPUs, SKUs and what describes them.",
      description:
        'PUT and PATCH of a SKU add one record for each element of `specs` and remove none: send `specs: []` when you put back what you read. Leaving out `desc_detail`, `desc_pack` or `desc_service` in a PUT empties them.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: basePath === '' ? '/' : basePath }],
    tags: [...COLLECTIONS.values()].map(({ plural }) => ({ name: plural })),
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
      parameters: PARAMETERS,
      headers: HEADERS,
      schemas: schemas(),
      responses: Object.fromEntries(
        Object.entries(ERRORS).map(([status, description]) => [
          `Error${status}`,
          { description, content: { [JSON_TYPE]: { schema: ref('schemas', 'Error') } } },
        ]),
      ),
    },
  };
}

const integer = (minimum: number, more: object = {}) => ({ type: 'integer', minimum, ...more });
const size = integer(1, { maximum: LARGEST_SIZE, default: DEFAULT_SIZE });

const PARAMETERS = {
  pk: { name: 'pk', in: 'path', required: true, schema: integer(1) },
  child: { name: 'child', in: 'path', required: true, schema: integer(1) },
  page: { name: 'page', in: 'query', schema: integer(1, { default: 1 }) },
  per_page: { name: 'per_page', in: 'query', schema: size },
  limit: { name: 'limit', in: 'query', schema: size },
  offset: { name: 'offset', in: 'query', schema: integer(0, { default: 0 }) },
  order: {
    name: 'order',
    in: 'query',
    schema: { type: 'string', enum: ['asc', 'desc'], default: 'asc' },
  },
  ifMatch: { name: 'If-Match', in: 'header', schema: { type: 'string' } },
  ifNoneMatch: { name: 'If-None-Match', in: 'header', schema: { type: 'string' } },
};

const HEADERS = {
  ETag: { description: 'Strong entity tag', schema: { type: 'string' } },
  Location: { description: 'Path of the new item', schema: { type: 'string' } },
  XTotalCount: { description: 'Rows of all pages together', schema: { type: 'integer' } },
  Link: { description: 'Other pages, and the documentation', schema: { type: 'string' } },
};

const pageParameters = ['page', 'per_page', 'limit', 'offset', 'order'].map((name) =>
  ref('parameters', name),
);

/** "SkuSpec" for sku_specs: names of components and operations. */
function componentName({ name }: Kind): string {
  const singular = name === 'goods' ? 'spu' : name.replace(/ies$/, 'y').replace(/s$/, '');
  return singular.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function schemas(): Record<string, object> {
  const found: Record<string, object> = {
    Error: {
      type: 'object',
      properties: {
        error: { type: 'string' },
        fields: {
          type: 'object',
          additionalProperties: { type: 'array', items: { type: 'string' } },
        },
        request_id: { type: 'string' },
      },
    },
  };
  for (const kind of ALL_KINDS) {
    const shown = visibleAttributes(kind);
    const properties = shown.map(([name, each]) => [name, attributeSchema(kind, each)] as const);
    found[componentName(kind)] = objectOf(
      properties,
      shown.map(([name]) => name),
    );
    const writable = writableAttributes(kind);
    const sent = writable.map(({ name, schema }) => [name, schema] as const);
    const required = writable.flatMap((each) => (each.required ? [each.name] : []));
    found[`${componentName(kind)}Input`] = objectOf(sent, required);
    found[`${componentName(kind)}Patch`] = objectOf(sent, []);
  }
  return found;
}

function objectOf(properties: (readonly [string, JsonSchema])[], required: string[]): object {
  const object = { type: 'object', properties: Object.fromEntries(properties) };
  return required.length === 0 ? object : { ...object, required };
}

function collectionPath(kind: Kind, nesting: Nesting | null): object {
  const path = collectionParameters(kind, nesting);
  const list = {
    ...operation(kind, nesting, 'list', `List ${kind.plural}`),
    parameters: [...path, ...listParameters(kind)],
    responses: {
      200: {
        description: `A page of ${kind.plural}`,
        headers: { 'X-Total-Count': ref('headers', 'XTotalCount'), Link: ref('headers', 'Link') },
        content: contentOf({ type: 'array', items: ref('schemas', componentName(kind)) }),
      },
      ...errors(kind, nesting === null ? [400, 406] : [400, 404, 406]),
    },
  };
  if (nesting !== null && !nesting.writable) return { get: list };
  const create = {
    ...operation(kind, nesting, 'create', `Create a ${kind.label}`),
    ...(path.length > 0 && { parameters: path }),
    requestBody: requestBody(`${componentName(kind)}Input`),
    responses: {
      201: { ...itemResponse(kind, 'The new object'), headers: CREATED_HEADERS },
      ...errors(kind, [400, 413, 415, 422, ...(nesting === null ? [] : [404])]),
    },
  };
  return { get: list, post: create };
}

const CREATED_HEADERS = { ETag: ref('headers', 'ETag'), Location: ref('headers', 'Location') };

function itemPath(kind: Kind, nesting: Nesting | null): object {
  const parameters = [
    ...collectionParameters(kind, nesting),
    ref('parameters', nesting === null ? 'pk' : 'child'),
  ];
  const read = {
    ...operation(kind, nesting, 'read', `Read a ${kind.label}`),
    parameters: [...parameters, ref('parameters', 'ifMatch'), ref('parameters', 'ifNoneMatch')],
    responses: {
      200: itemResponse(kind, 'The object'),
      304: { description: 'If-None-Match names the object as it is' },
      ...errors(kind, [404, 406, 412, ...(kind.emptyNotFound || nesting !== null ? [] : [410])]),
    },
  };
  const guarded = [...parameters, ref('parameters', 'ifMatch')];
  const remove = {
    ...operation(kind, nesting, 'delete', `Delete a ${kind.label}`),
    parameters: guarded,
    responses: { 204: { description: 'Deleted' }, ...errors(kind, [404, 409, 412, 422]) },
  };
  if (nesting !== null) return nesting.writable ? { get: read, delete: remove } : { get: read };
  const update = (verb: string, input: string) => ({
    ...operation(
      kind,
      nesting,
      verb,
      `${verb === 'replace' ? 'Replace' : 'Change'} a ${kind.label}`,
    ),
    parameters: guarded,
    requestBody: requestBody(`${componentName(kind)}${input}`),
    responses: {
      200: itemResponse(kind, 'The whole object'),
      ...errors(kind, [400, 404, 412, 413, 415, 422]),
    },
  });
  return {
    get: read,
    put: update('replace', 'Input'),
    patch: update('change', 'Patch'),
    delete: remove,
  };
}

function collectionParameters(_kind: Kind, nesting: Nesting | null): object[] {
  return nesting === null ? [] : [ref('parameters', 'pk')];
}

function listParameters(kind: Kind): object[] {
  const filters: object[] = [];
  const named = new Set<string>();
  for (const [parameter, attribute] of filterParameters(kind)) {
    // The documents name the request's word alone (DECISIONS 1).
    if (named.has(attribute)) continue;
    named.add(attribute);
    filters.push({
      name: parameter,
      in: 'query',
      schema: filterSchema(kind, parameter, attribute),
    });
  }
  const sortby = { type: 'string', enum: scalarAttributes(kind), default: 'id' };
  return [...pageParameters, { name: 'sortby', in: 'query', schema: sortby }, ...filters];
}

function filterSchema(kind: Kind, parameter: string, attribute: string): object {
  if (parameter === 'keyword') return { type: 'string' };
  const declared = kind.attributes[attribute];
  const nullable = declared?.role === 'written' && declared.fallback === null;
  return nullable ? { anyOf: [integer(0), { type: 'string', const: 'null' }] } : integer(0);
}

function operation(kind: Kind, nesting: Nesting | null, verb: string, summary: string): object {
  const parent = nesting === null ? '' : `Of${componentName(KINDS[nesting.parent])}`;
  const many = verb === 'list' ? 'List' : '';
  return {
    operationId: `${verb}${componentName(kind)}${many}${parent}`,
    summary: nesting === null ? summary : `${summary} of a ${KINDS[nesting.parent].label}`,
    tags: [kind.path === null && nesting !== null ? KINDS[nesting.parent].plural : kind.plural],
    security: kind.open ? [] : [{ token: [] }],
  };
}

function itemResponse(kind: Kind, description: string): object {
  return {
    description,
    headers: { ETag: ref('headers', 'ETag') },
    content: contentOf(ref('schemas', componentName(kind))),
  };
}

function contentOf(schema: object): object {
  return { [JSON_TYPE]: { schema }, [VENDOR_TYPE]: { schema } };
}

function requestBody(schema: string): object {
  return { required: true, content: { [JSON_TYPE]: { schema: ref('schemas', schema) } } };
}

function errors(kind: Kind, statuses: readonly number[]): Record<number, object> {
  const all = kind.open ? statuses : [...statuses, 401, 403];
  return Object.fromEntries(
    [...new Set([...all, 500])].map((status) => [status, ref('responses', `Error${status}`)]),
  );
}
