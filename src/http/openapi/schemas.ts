/** The schemas that many operations share: failures, and the response to OPTIONS. */
import { type FieldErrors } from '../../errors.ts';
import { KINDS } from '../../model/kinds.ts';
import { sentAttributes } from '../endpoints/kinds/attributes.ts';
import { text } from '../operations/common-schemas.ts';
import { defineShape, type Shape } from '../operations/content.ts';

/** The body of a failure that was not caused by the request. */
export const FAULT_EXAMPLE = {
  error: 'internal server error',
  request_id: '5f0c9a4e-6a8b-4c61-9d0c-2f6a3b1e7d42',
};

/** The response to OPTIONS for books. */
export function attributesExample(): object {
  return { name: KINDS.books.label, attributes: sentAttributes(KINDS.books) };
}

/** @param refusal the response to a body with two problems. */
export function sharedShapes(refusal: {
  readonly error: string;
  readonly fields: FieldErrors;
}): readonly Shape[] {
  return [ERROR, invalid(refusal), FAULT, NOTHING, ATTRIBUTES];
}

const ERROR = defineShape({
  name: 'Error',
  description: 'A failure that the request caused.',
  properties: { error: { ...text, description: 'One human-readable sentence.' } },
  example: { error: 'there is no SKU 36' },
});

function invalid(refusal: object): Shape {
  return defineShape({
    name: 'Invalid',
    description: 'The body is JSON, but fails validation or breaks a rule of the catalog.',
    properties: {
      error: { ...text, description: 'All problems as one human-readable sentence.' },
      fields: {
        type: 'object',
        description:
          'The problems by the path of the attribute, such as `price`, `specs.0.option_id` or `3.name`; elements of arrays are counted from 0. Left out if the body is valid but breaks a rule of the catalog.',
        additionalProperties: { type: 'array', items: text, minItems: 1 },
      },
    },
    required: ['error'],
    example: refusal,
  });
}

const FAULT = defineShape({
  name: 'Fault',
  description: 'A failure that the request did not cause.',
  properties: {
    error: text,
    request_id: {
      ...text,
      minLength: 1,
      description: 'The id of the request in the log, which has the cause.',
    },
  },
  example: FAULT_EXAMPLE,
});

const NOTHING: Shape = {
  name: 'Nothing',
  schema: () => ({
    type: 'object',
    description: 'An empty object.',
    maxProperties: 0,
    examples: [{}],
  }),
};

const ATTRIBUTES: Shape = {
  name: 'Attributes',
  schema: () => ({
    type: 'object',
    description: 'The attributes that a client may send, each with its JSON Schema.',
    properties: {
      name: { ...text, description: 'The kind of object that the path is about.' },
      attributes: {
        type: 'object',
        additionalProperties: {
          type: 'object',
          properties: {
            required: { type: 'boolean', description: 'Whether POST and PUT require it.' },
          },
          required: ['required'],
          additionalProperties: true,
        },
      },
    },
    required: ['attributes'],
    examples: [attributesExample()],
  }),
};
