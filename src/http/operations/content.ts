/** The bodies of requests and responses in the description: schemas, media types and examples. */
import { JSON_TYPE, VENDOR_TYPE } from '../rules/negotiation.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

/** JSON Schema (2020-12). */
export type JsonSchema = JsonObject;

export interface Example {
  readonly summary: string;
  readonly value: unknown;
}

/** The schema of a named object, which is a component of the description. */
export interface Shape {
  readonly name: string;
  /** Called when the description is made: some schemas hold examples, which take time. */
  readonly schema: () => JsonSchema;
}

/** The shape of an object. By default all of its properties are required. */
export function defineShape(options: {
  readonly name: string;
  readonly description: string;
  readonly properties: object;
  readonly required?: readonly string[];
  readonly example: object;
}): Shape {
  const { name, description, properties, required = Object.keys(properties), example } = options;
  return {
    name,
    schema: () => ({ type: 'object', description, properties, required, examples: [example] }),
  };
}

/** A body, of a request or of a response. */
export interface Content {
  /** Media types, without parameters except the version. */
  readonly types: readonly string[];
  readonly schema: JsonSchema;
  /** The components that the schema points at. */
  readonly shapes: readonly Shape[];
  /** By the names of their components. */
  readonly examples: Readonly<Record<string, () => Example>>;
}

/** A pointer to the component of a shape. */
export function refTo({ name }: Shape): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}

/** JSON in the plain media type only, as in requests and in responses that ignore `Accept`. */
export function plainJson(shape: Shape, examples: Content['examples']): Content {
  return { types: [JSON_TYPE], schema: refTo(shape), shapes: [shape], examples };
}

/** JSON in both media types; `Accept` chooses between them. */
export function negotiatedJson(shape: Shape, examples: Content['examples']): Content {
  return { ...plainJson(shape, examples), types: [JSON_TYPE, VENDOR_TYPE] };
}

/** The content of an array of such objects. @param more keywords for the array. */
export function arrayOf(
  content: Content,
  examples: Content['examples'],
  more: JsonObject = {},
): Content {
  return { ...content, schema: { type: 'array', items: content.schema, ...more }, examples };
}

/** Text of a media type other than JSON. */
export function textContent(type: string, examples: Content['examples']): Content {
  return { types: [type], schema: { type: 'string' }, shapes: [], examples };
}
