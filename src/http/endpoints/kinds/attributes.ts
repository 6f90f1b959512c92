/** The attributes of kinds as JSON Schema, in requests and in responses. */
import type { Attribute, Kind, Scalar } from '../../../model/kind.ts';
import { KINDS } from '../../../model/kinds.ts';
import { membersOf } from '../../../resources/members.ts';
import { visibleAttributes } from '../../../resources/visible-attributes.ts';
import { type Attributes, type BodyDeclaration, uncheckedJson } from '../../operations/body.ts';
import type { Content, JsonSchema } from '../../operations/content.ts';
import { jsonSchemaOf } from '../../operations/json-schema.ts';

/**
 * A body with the attributes of a kind.
 *
 * @param validate see {@link uncheckedJson}.
 */
export function bodyOf(
  kind: Kind,
  content: Content,
  validate: (body: unknown) => unknown,
): BodyDeclaration<unknown> {
  return uncheckedJson(content, () => sentAttributes(kind), membersOf(kind), validate);
}

/** What OPTIONS says about the attributes that a client may send. */
export function sentAttributes(kind: Kind): Attributes {
  return Object.fromEntries(
    writableAttributes(kind).map(({ name, schema, required }) => [name, { ...schema, required }]),
  );
}

export interface WritableAttribute {
  /** Its name in requests. */
  readonly name: string;
  /** Its name in the declaration of the kind. */
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
    const { schema, request = attribute, isList } = declared;
    const fallback = isList ? listIn(declared.default) : declared.default;
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

/** The list that rows store as JSON text. */
function listIn(text: Scalar | undefined): unknown {
  return typeof text === 'string' ? JSON.parse(text) : text;
}

/** JSON Schema (2020-12) of one attribute as responses show it. */
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
      const reference = kind.attributes[declared.foreignKey];
      const nullable = reference?.role === 'input' && reference.default === null;
      return { type: nullable ? ['string', 'null'] : 'string', readOnly: true };
    }
    case 'children':
      return ownedSchema(declared);
    case 'document':
      return { type: ['object', 'null'], additionalProperties: true, readOnly: true };
    case 'internal':
      throw new Error(`a response shows nothing internal of ${kind.plural}`);
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
