/** What the service says of itself: index, OPTIONS, links to the documentation. */
import { toJsonSchema } from '@valibot/to-json-schema';
import type { Attribute, Kind } from '../../model/kind.ts';
import { COLLECTIONS, KINDS } from '../../model/kinds.ts';
import type { ValueSchema } from '../../model/schemas.ts';
import { visibleAttributes } from '../../resources/representation.ts';
import { allowed, type Endpoint, type Method } from './endpoint.ts';
import { JSON_TYPE } from '../rules/negotiation.ts';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** RFC 8631: where machines and people find the description. */
export function serviceLinks(prefix: string): string {
  let links = knownLinks.get(prefix);
  if (links === undefined) {
    links = `<${prefix}/openapi.json>; rel="service-desc"; type="application/json", <${prefix}/docs/>; rel="service-doc"; type="text/html"`;
    knownLinks.set(prefix, links);
  }
  return links;
}

/** Prefixes are few: with a version segment and without. */
const knownLinks = new Map<string, string>();

/** `GET /`. */
export function indexDocument(basePath: string, version: string): object {
  const collections = Object.fromEntries(
    [...COLLECTIONS].map(([path, kind]) => [kind.name, `${basePath}${path}`]),
  );
  return {
    name: 'catalog-server',
    version,
    collections,
    documentation: { openapi: `${basePath}/openapi.json`, page: `${basePath}/docs/` },
  };
}

/** RFC 6573: the collections are the items of the index. */
export function indexLinks(basePath: string): string {
  return [...COLLECTIONS.keys()].map((path) => `<${basePath}${path}>; rel="item"`).join(', ');
}

/** The headers of the answer to OPTIONS. */
export function optionsHeaders(endpoint: Endpoint): Record<string, string> {
  return { Allow: allowed(endpoint), 'Content-Type': JSON_TYPE };
}

/** The answer to OPTIONS: attributes that the client may send, with type and whether required. */
export function describeAttributes(kind: Kind, methods: readonly Method[]): object {
  const writes = methods.some((method) => method === 'POST' || method === 'PUT');
  return {
    name: kind.label,
    attributes: writes
      ? Object.fromEntries(
          writableAttributes(kind).map(({ name, schema, required }) => [
            name,
            { ...schema, required },
          ]),
        )
      : {},
  };
}

export interface WritableAttribute {
  /** As requests call it. */
  readonly name: string;
  /** As the kind declares it. */
  readonly attribute: string;
  readonly schema: JsonSchema;
  /** On POST and PUT; PATCH requires none. */
  readonly required: boolean;
}

/** The attributes of a kind that clients send, in the order of the object. */
export function writableAttributes(kind: Kind): WritableAttribute[] {
  return visibleAttributes(kind).flatMap(([attribute, declared]) => {
    if (declared.role === 'children') {
      return [{ name: attribute, attribute, schema: ownedSchema(declared), required: false }];
    }
    if (declared.role !== 'input') return [];
    const { schema, request = attribute, default: fallback } = declared;
    const described = jsonSchemaOf(schema);
    return [
      {
        name: request,
        attribute,
        schema: fallback === undefined ? described : { ...described, default: fallback },
        required: fallback === undefined,
      },
    ];
  });
}

/** JSON Schema (2020-12) of one attribute as answers show it. */
export function attributeSchema(kind: Kind, declared: Attribute): JsonSchema {
  switch (declared.role) {
    case 'id':
      return { type: 'integer', minimum: 1, readOnly: true };
    case 'input':
      return jsonSchemaOf(declared.schema);
    case 'serverSet':
      if (declared.schema !== undefined) {
        return { ...jsonSchemaOf(declared.schema), readOnly: true };
      }
      return { type: typeof declared.initial === 'number' ? 'integer' : 'string', readOnly: true };
    case 'lookup': {
      const through = kind.attributes[declared.foreignKey];
      const nullable = through?.role === 'input' && through.default === null;
      return { type: nullable ? ['string', 'null'] : 'string', readOnly: true };
    }
    case 'children':
      return ownedSchema(declared);
    case 'document':
      return { type: ['object', 'null'], additionalProperties: true, readOnly: true };
    case 'internal':
      throw new Error(`an answer shows nothing internal of ${kind.plural}`);
  }
}

function ownedSchema(declared: Extract<Attribute, { role: 'children' }>): JsonSchema {
  const attributes = writableAttributes(KINDS[declared.kind]);
  return {
    type: 'array',
    items: {
      type: 'object',
      required: attributes.flatMap(({ name, required }) => (required ? [name] : [])),
      properties: Object.fromEntries(attributes.map(({ name, schema }) => [name, schema])),
    },
  };
}

const converted = new Map<ValueSchema, JsonSchema>();

/** The JSON Schema of a value schema, with the keywords that it carries as metadata. */
function jsonSchemaOf(schema: ValueSchema): JsonSchema {
  const found = converted.get(schema) ?? convert(schema);
  converted.set(schema, found);
  return found;
}

function convert(schema: ValueSchema): JsonSchema {
  const { $schema: _, ...schemaObject } = toJsonSchema(schema, {
    target: 'draft-2020-12',
    errorMode: 'ignore',
  });
  const described: JsonSchema = { ...schemaObject };
  if (!Array.isArray(described['anyOf'])) return described;
  // Nullable: one schema with two types reads better than two schemas.
  const [value] = described['anyOf'] as JsonSchema[];
  return { ...value, type: [value?.['type'], 'null'] };
}
