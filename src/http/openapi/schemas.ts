/** The schemas of the description: every object that is sent or answered. */
import type { Attribute, Kind } from '../../model/kind.ts';
import { COLLECTIONS, KINDS } from '../../model/kinds.ts';
import { joinOf } from '../../model/rules.ts';
import type { Examples } from '../../resources/examples.ts';
import { visibleAttributes } from '../../resources/representation.ts';
import {
  attributeSchema,
  describeAttributes,
  indexDocument,
  type JsonSchema,
  writableAttributes,
} from '../endpoints/description.ts';
import {
  capitalised,
  componentName,
  FAULT,
  type JsonObject,
  type Named,
  REACHABLE,
  WRITABLE,
  ref,
  withArticle,
  without,
} from './names.ts';

/** The version of OpenAPI that the description is written in. */
export const OPENAPI = '3.1.1';

const text = { type: 'string' };

/** Every schema by its name. */
export function schemas(examples: Examples, basePath: string, version: string): Named {
  const found = serviceSchemas(examples, basePath, version);
  for (const kind of REACHABLE) Object.assign(found, kindSchemas(kind, examples));
  for (const kind of WRITABLE) Object.assign(found, inputSchemas(kind, examples));
  return found;
}

/** What clients read of a kind. */
function kindSchemas(kind: Kind, examples: Examples): Named {
  const shown = visibleAttributes(kind).map(
    ([attribute, declared]) =>
      [
        attribute,
        { ...attributeSchema(kind, declared), ...describe(kind, declared, false) },
      ] as const,
  );
  const names = shown.map(([attribute]) => attribute);
  const object = objectSchema(`${capitalised(withArticle(kind.label))}.`, shown, names);
  const name = componentName(kind);
  return { [name]: { ...object, examples: examples.objects(kind, 1) } };
}

/** What clients send to create, replace and change rows of a kind. */
function inputSchemas(kind: Kind, examples: Examples): Named {
  const { label, plural } = kind;
  const name = componentName(kind);
  const writable = writableAttributes(kind);
  const sent = writable.map(
    ({ name: request, attribute, schema }) =>
      [
        request,
        { ...schema, ...describe(kind, kind.attributes[attribute] as Attribute, true) },
      ] as const,
  );
  const required = writable.flatMap((each) => (each.required ? [each.name] : []));
  const update = {
    description: `One element of a change of several ${plural}: which, and what of it.`,
    allOf: [
      { type: 'object', properties: { id: { type: 'integer', minimum: 1 } }, required: ['id'] },
      ref('schemas', `${name}Patch`),
    ],
    examples: examples.changes(kind, 1),
  };
  return {
    [`${name}Input`]: {
      ...objectSchema(
        `What makes ${withArticle(label)}. Read-only and unknown members are ignored.`,
        sent,
        required,
      ),
      examples: examples.inputs(kind, 1),
    },
    [`${name}Patch`]: {
      ...objectSchema(
        `What is to change of ${withArticle(label)}; the rest stays as it is.`,
        sent.map(([attribute, schema]) => [attribute, without(schema, 'default')] as const),
        [],
      ),
      examples: examples.changes(kind, 1).map((change) => without(change, 'id')),
    },
    [`${name}Update`]: update,
  };
}

function objectSchema(
  description: string,
  properties: readonly (readonly [string, JsonSchema])[],
  required: readonly string[],
): JsonSchema {
  return {
    type: 'object',
    description,
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
  };
}

/** What the declaration says of an attribute beyond its type. */
function describe(kind: Kind, declared: Attribute, sent: boolean): JsonSchema {
  const description = sentenceOf(kind, declared, sent);
  return description === null ? {} : { description };
}

function sentenceOf(kind: Kind, declared: Attribute, sent: boolean): string | null {
  switch (declared.role) {
    case 'id':
      return 'Given by the server, never again to another.';
    case 'serverSet':
      return declared.meaning ?? 'Kept by the server.';
    case 'document':
      return declared.meaning;
    case 'internal':
      return null;
    case 'lookup': {
      const { references, through, attribute } = joinOf(kind, declared);
      return `The \`${attribute}\` of the ${KINDS[references].label} that \`${through}\` names.`;
    }
    case 'children': {
      const { label, plural } = KINDS[declared.kind];
      return sent
        ? `Each element adds one ${label}; none is removed. Send none to leave them as they are.`
        : `The ${plural} of the ${kind.label}.`;
    }
    case 'input': {
      if (declared.references === undefined) return null;
      const whose = `The id of ${withArticle(KINDS[declared.references].label)}`;
      return declared.default === null ? `${whose}, or null.` : `${whose}.`;
    }
  }
}

/** What is no object of a kind: failures, and what the service says of itself. */
function serviceSchemas(examples: Examples, basePath: string, version: string): Named {
  const index = indexDocument(basePath, version);
  return {
    Error: {
      type: 'object',
      description: 'A failure that the request caused.',
      properties: { error: { type: 'string', description: 'One sentence for a person.' } },
      required: ['error'],
      examples: [{ error: 'there is no SKU 36' }],
    },
    Invalid: {
      type: 'object',
      description: 'A body that is JSON, but cannot be stored.',
      properties: {
        error: { type: 'string', description: 'Every problem, in one sentence for a person.' },
        fields: {
          type: 'object',
          description:
            'The problems by attribute, in an array by its position: `price`, `specs.0.option_id`, `3.name`. Left out where the body is well-formed, but does not fit the catalog.',
          additionalProperties: { type: 'array', items: text, minItems: 1 },
        },
      },
      required: ['error'],
      examples: [examples.refusal()],
    },
    Fault: {
      type: 'object',
      description: 'A failure that the request did not cause.',
      properties: {
        error: text,
        request_id: { ...text, minLength: 1, description: 'Names the cause in the log.' },
      },
      required: ['error', 'request_id'],
      examples: [FAULT],
    },
    Nothing: {
      type: 'object',
      description: 'An empty object.',
      maxProperties: 0,
      examples: [{}],
    },
    Index: {
      type: 'object',
      description: 'Where to find what.',
      properties: {
        name: text,
        version: text,
        collections: namesOf([...COLLECTIONS.values()].map(({ name }) => name)),
        documentation: namesOf(['openapi', 'page']),
      },
      required: ['name', 'version', 'collections', 'documentation'],
      examples: [index],
    },
    Attributes: {
      type: 'object',
      description: 'The attributes that a client may send, each with its JSON Schema.',
      properties: {
        name: { type: 'string', description: 'What the path is about.' },
        attributes: {
          type: 'object',
          additionalProperties: {
            type: 'object',
            properties: {
              required: { type: 'boolean', description: 'Whether POST and PUT want it.' },
            },
            required: ['required'],
            additionalProperties: true,
          },
        },
      },
      required: ['attributes'],
      examples: [describeAttributes(KINDS.books, ['POST'])],
    },
    Description: {
      type: 'object',
      description: 'This document: OpenAPI 3.1.',
      properties: { openapi: text, info: { type: 'object' }, paths: { type: 'object' } },
      required: ['openapi', 'info', 'paths'],
      additionalProperties: true,
      examples: [beginning(version)],
    },
  };
}

/** An example of this description, which would be larger than itself. */
export function beginning(version: string): JsonObject {
  return { openapi: OPENAPI, info: { title: 'Catalog server', version }, paths: {} };
}

function namesOf(names: readonly string[]): JsonSchema {
  const path = { type: 'string', description: 'A path on this server.' };
  return {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, path])),
    required: names,
  };
}
