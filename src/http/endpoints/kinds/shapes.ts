/** The objects of kinds as clients send and read them, with examples from the demo catalog. */
import type { Attribute, Kind } from '../../../model/kind.ts';
import { KINDS } from '../../../model/kinds.ts';
import { joinOf } from '../../../model/rules.ts';
import { identifier } from '../../../model/schemas.ts';
import { Examples } from '../../../resources/examples.ts';
import { visibleAttributes } from '../../../resources/visible-attributes.ts';
import {
  arrayOf,
  type Content,
  type Example,
  type JsonObject,
  type JsonSchema,
  negotiatedJson,
  plainJson,
  refTo,
  type Shape,
} from '../../operations/content.ts';
import type { Attributes } from '../../operations/body.ts';
import { jsonSchemaOf } from '../../operations/json-schema.ts';
import { MERGE_PATCH_TYPE } from '../../rules/json-body.ts';
import { JSON_TYPE } from '../../rules/negotiation.ts';
import { attributeSchema, writableAttributes } from './attributes.ts';
import { capitalised, componentName, withArticle } from './names.ts';

let made: Examples | null = null;

/** The demo catalog, read when the description is made. */
export function demoExamples(): Examples {
  return (made ??= new Examples());
}

/** The object of a kind, as a response. */
export function oneOf(kind: Kind): Content {
  const name = componentName(kind);
  return negotiatedJson(objectShape(kind), {
    [name]: () => example(capitalised(kind.label), demoExamples().objects(kind, 1)[0]),
  });
}

/** Several objects of a kind, as a response. */
export function manyOf(kind: Kind): Content {
  return arrayOf(oneOf(kind), {
    [`${componentName(kind)}List`]: () =>
      example(capitalised(kind.plural), demoExamples().objects(kind, 2)),
  });
}

/** The body that creates an object of a kind. */
export function inputOf(kind: Kind): Content {
  return plainJson(inputShape(kind), {
    [`${componentName(kind)}Input`]: () =>
      example(`One ${kind.label}`, demoExamples().inputs(kind, 1)[0]),
  });
}

/** The body that creates several objects. */
export function inputsOf(kind: Kind): Content {
  const examples = {
    [`${componentName(kind)}InputList`]: () =>
      example(`Several ${kind.plural}, all or none`, demoExamples().inputs(kind, 2)),
  };
  return arrayOf(inputOf(kind), examples, { minItems: 1 });
}

/** The body that replaces an object. */
export function replacementOf(kind: Kind): Content {
  return plainJson(inputShape(kind), {
    [`${componentName(kind)}Replacement`]: () =>
      example(capitalised(kind.label), demoExamples().replacement(kind)),
  });
}

/** The body that changes some attributes of an object. */
export function patchOf(kind: Kind): Content {
  const content = plainJson(patchShape(kind), {
    [`${componentName(kind)}Patch`]: () => {
      const [change = {}] = demoExamples().changes(kind, 1);
      return example('One attribute', without(change, 'id'));
    },
  });
  return { ...content, types: changeTypes(kind) };
}

/** The media types of a change, which mean different things if the kind has lists (spec 2.8). */
function changeTypes(kind: Kind): readonly string[] {
  const hasLists = visibleAttributes(kind).some(([, { role }]) => role === 'children');
  return hasLists ? [JSON_TYPE, MERGE_PATCH_TYPE] : [JSON_TYPE];
}

/** The body that changes some attributes of several objects. */
export function updatesOf(kind: Kind): Content {
  const one = plainJson(updateShape(kind), {});
  const examples = {
    [`${componentName(kind)}UpdateList`]: () =>
      example(`Two ${kind.plural}`, demoExamples().changes(kind, 2)),
  };
  return arrayOf({ ...one, shapes: [...one.shapes, patchShape(kind)] }, examples, { minItems: 1 });
}

/** The body of a preview of a page. */
export function previewOf(kind: Kind): Content {
  const name = `${componentName(kind)}PreviewInput`;
  const properties = Object.fromEntries(
    Object.entries(previewAttributes(kind)).map(([attribute, schema]) => [
      attribute,
      without(schema, 'required'),
    ]),
  );
  const shape: Shape = {
    name,
    schema: () => ({
      type: 'object',
      description: `The values for the page of ${withArticle(kind.label)}. Without \`id\`, the same attributes are required as for a new one.`,
      properties,
      examples: demoExamples().changes(kind, 1),
    }),
  };
  return plainJson(shape, {
    [name]: () => example('One attribute of an object', demoExamples().changes(kind, 1)[0]),
  });
}

/** The attributes of a preview, for OPTIONS. */
export function previewAttributes(kind: Kind): Attributes {
  const id = {
    ...jsonSchemaOf(identifier),
    description: 'The object from which attributes that are left out are taken.',
  };
  const sent = sentSchemas(kind).map(
    ([name, schema]) => [name, { ...without(schema, 'default'), required: false }] as const,
  );
  return { id: { ...id, required: false }, ...Object.fromEntries(sent) };
}

function example(summary: string, value: unknown): Example {
  return { summary, value };
}

function objectShape(kind: Kind): Shape {
  return {
    name: componentName(kind),
    schema() {
      const shown = visibleAttributes(kind).map(
        ([attribute, declared]) =>
          [
            attribute,
            { ...attributeSchema(kind, declared), ...describe(kind, declared, false) },
          ] as const,
      );
      const names = shown.map(([attribute]) => attribute);
      const object = objectSchema(`${capitalised(withArticle(kind.label))}.`, shown, names);
      return { ...object, examples: demoExamples().objects(kind, 1) };
    },
  };
}

function inputShape(kind: Kind): Shape {
  return {
    name: `${componentName(kind)}Input`,
    schema() {
      const required = writableAttributes(kind).flatMap((each) =>
        each.required ? [each.name] : [],
      );
      return {
        ...objectSchema(
          `The attributes of ${withArticle(kind.label)} that a client sends. Read-only and unknown members are ignored.`,
          sentSchemas(kind),
          required,
        ),
        examples: demoExamples().inputs(kind, 1),
      };
    },
  };
}

function patchShape(kind: Kind): Shape {
  return {
    name: `${componentName(kind)}Patch`,
    schema: () => ({
      ...objectSchema(
        `The attributes of ${withArticle(kind.label)} to change; the others stay as they are.`,
        sentSchemas(kind).map(([name, schema]) => [name, without(schema, 'default')] as const),
        [],
      ),
      examples: demoExamples()
        .changes(kind, 1)
        .map((change) => without(change, 'id')),
    }),
  };
}

function updateShape(kind: Kind): Shape {
  return {
    name: `${componentName(kind)}Update`,
    schema: () => ({
      description: `One element of a change of several ${kind.plural}: the \`id\`, and the attributes to change.`,
      allOf: [
        { type: 'object', properties: { id: jsonSchemaOf(identifier) }, required: ['id'] },
        refTo(patchShape(kind)),
      ],
      examples: demoExamples().changes(kind, 1),
    }),
  };
}

/** The attributes that clients send, by their names in requests. */
function sentSchemas(kind: Kind): (readonly [string, JsonSchema])[] {
  return writableAttributes(kind).map(({ name, attribute, schema }) => [
    name,
    { ...schema, ...describe(kind, kind.attributes[attribute] as Attribute, true) },
  ]);
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

/** What the declaration says about an attribute beyond its type. */
function describe(kind: Kind, declared: Attribute, sent: boolean): JsonSchema {
  const description = sentenceOf(kind, declared, sent);
  return description === null ? {} : { description };
}

function sentenceOf(kind: Kind, declared: Attribute, sent: boolean): string | null {
  switch (declared.role) {
    case 'id':
      return 'Assigned by the server and never used again.';
    case 'serverSet':
      return declared.meaning ?? 'Set by the server.';
    case 'document':
      return declared.meaning;
    case 'internal':
      return null;
    case 'lookup': {
      const { references, foreignKey, attribute } = joinOf(kind, declared);
      return `The \`${attribute}\` of the ${KINDS[references].label} that \`${foreignKey}\` names.`;
    }
    case 'children': {
      const { label, plural } = KINDS[declared.kind];
      return sent
        ? `Each element adds ${withArticle(label)}; none is removed, except by ${MERGE_PATCH_TYPE}. ${capitalised(withArticle(kind.label))} has at most ${declared.most}.`
        : `The ${plural} of the ${kind.label}.`;
    }
    case 'input': {
      if (declared.references === undefined) return declared.meaning ?? null;
      const whose = `The id of ${withArticle(KINDS[declared.references].label)}`;
      return declared.default === null ? `${whose}, or null.` : `${whose}.`;
    }
  }
}

function without(object: JsonObject, member: string): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => name !== member));
}
