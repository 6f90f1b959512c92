/** The schemas that many operations share: failures, and the answer to OPTIONS. */
import { type FieldErrors } from '../../errors.ts';
import { KINDS } from '../../model/kinds.ts';
import { sentAttributes } from '../endpoints/kinds/attributes.ts';
import type { Shape } from '../operations/content.ts';
import { ERROR } from '../operations/errors.ts';

const text = { type: 'string' };

/** The body of a failure that the request did not cause. */
export const FAULT_EXAMPLE = {
  error: 'internal server error',
  request_id: '5f0c9a4e-6a8b-4c61-9d0c-2f6a3b1e7d42',
};

/** What OPTIONS answers for books. */
export function attributesExample(): object {
  return { name: KINDS.books.label, attributes: sentAttributes(KINDS.books) };
}

/** @param refusal the answer to a body that is wrong in two places. */
export function sharedShapes(refusal: {
  readonly error: string;
  readonly fields: FieldErrors;
}): readonly Shape[] {
  return [ERROR, invalid(refusal), FAULT, NOTHING, ATTRIBUTES];
}

const invalid = (refusal: object): Shape => ({
  name: 'Invalid',
  schema: () => ({
    type: 'object',
    description: 'A body that is JSON, but cannot be stored.',
    properties: {
      error: { ...text, description: 'Every problem, in one sentence for a person.' },
      fields: {
        type: 'object',
        description:
          'The problems by attribute, in an array by its position: `price`, `specs.0.option_id`, `3.name`. Left out if the body is well-formed, but does not fit the catalog.',
        additionalProperties: { type: 'array', items: text, minItems: 1 },
      },
    },
    required: ['error'],
    examples: [refusal],
  }),
});

const FAULT: Shape = {
  name: 'Fault',
  schema: () => ({
    type: 'object',
    description: 'A failure that the request did not cause.',
    properties: {
      error: text,
      request_id: { ...text, minLength: 1, description: 'Names the cause in the log.' },
    },
    required: ['error', 'request_id'],
    examples: [FAULT_EXAMPLE],
  }),
};

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
      name: { ...text, description: 'What the path is about.' },
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
