/** JSON Schema derived from the valibot schemas that validate bodies. */
import { toJsonSchema } from '@valibot/to-json-schema';
import type * as v from 'valibot';
import { isObject } from '../../model/schemas.ts';
import type { JsonSchema } from './content.ts';

const converted = new WeakMap<object, JsonSchema>();

/** The JSON Schema (2020-12) of the input of a schema, with the keywords of its metadata. */
export function jsonSchemaOf(schema: v.GenericSchema): JsonSchema {
  const found = converted.get(schema) ?? convert(schema);
  converted.set(schema, found);
  return found;
}

const propertyNames = new WeakMap<object, ReadonlySet<string>>();

/** The names of the properties of a schema at any depth. */
export function propertiesIn(schema: v.GenericSchema): ReadonlySet<string> {
  let names = propertyNames.get(schema);
  if (names === undefined) {
    names = new Set(namesBelow(jsonSchemaOf(schema)));
    propertyNames.set(schema, names);
  }
  return names;
}

/** Every key at any depth, of which the keywords of JSON Schema do no harm. */
function* namesBelow(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, part] of Object.entries(value)) {
    yield name;
    yield* namesBelow(part);
  }
}

function convert(schema: v.GenericSchema): JsonSchema {
  const { $schema: _, ...described } = toJsonSchema(schema, {
    target: 'draft-2020-12',
    typeMode: 'input',
    errorMode: 'ignore',
  });
  return readable(described);
}

/** Writes a nullable value as one schema with two types, which reads better than two schemas. */
function readable(schema: JsonSchema): JsonSchema {
  const { anyOf, properties, required, ...rest } = schema;
  if (Array.isArray(anyOf)) {
    const [value] = anyOf as JsonSchema[];
    return { ...value, type: [value?.['type'], 'null'], ...rest };
  }
  if (!isObject(properties)) return schema;
  const entries = Object.entries(properties).map(
    ([name, each]) => [name, isObject(each) ? readable(each) : each] as const,
  );
  const wanted = Array.isArray(required) && required.length > 0;
  return { ...rest, properties: Object.fromEntries(entries), ...(wanted && { required }) };
}
