/** What the API's description says about imports. */
import { arrayOf, negotiatedJson, type Shape } from '../../operations/content.ts';

const EXAMPLE = {
  id: 7,
  collection: 'skus',
  state: 'refused',
  dry_run: false,
  rows: 2,
  created: 0,
  changed: 0,
  unchanged: 0,
  refused: 1,
  error_count: 1,
  change_count: 0,
};

const LISTS = {
  errors: [{ row: 3, column: 'category', message: 'there is no category "Phonse"' }],
  changes: [],
};

const count = { type: 'integer', minimum: 0 };
const text = { type: 'string' };

const PROPERTIES = {
  id: { type: 'integer', minimum: 1 },
  collection: { ...text, description: 'By its name in the path.' },
  state: { ...text, enum: ['checking', 'writing', 'done', 'refused', 'failed'] },
  dry_run: { type: 'boolean', description: 'Whether it only says what it would do.' },
  rows: { ...count, description: 'Rows of the file, without the header and empty ones.' },
  created: count,
  changed: count,
  unchanged: count,
  refused: { ...count, description: 'Rows with errors.' },
  error_count: count,
  change_count: count,
};

const LIST_PROPERTIES = {
  errors: {
    type: 'array',
    description: 'The first thousand.',
    items: {
      type: 'object',
      properties: {
        row: { type: ['integer', 'null'], description: 'The header is 1.' },
        column: { type: ['string', 'null'] },
        message: text,
      },
      required: ['row', 'column', 'message'],
    },
  },
  changes: {
    type: 'array',
    description: 'The first thousand, if they are not very long.',
    items: {
      type: 'object',
      properties: {
        row: { type: 'integer' },
        id: { type: 'integer', minimum: 1 },
        action: { ...text, enum: ['create', 'update'] },
        fields: {
          type: 'object',
          additionalProperties: { type: 'array', minItems: 2, maxItems: 2 },
          description: 'Before and after, of each attribute that differs.',
        },
      },
      required: ['row', 'id', 'action', 'fields'],
    },
  },
};

function shapeOf(name: string, description: string, properties: object, example: object): Shape {
  return {
    name,
    schema: () => ({
      type: 'object',
      description,
      properties,
      required: Object.keys(properties),
      examples: [example],
    }),
  };
}

const WHOLE = { ...EXAMPLE, ...LISTS };

/** An import as it is shown by itself. */
export const ONE = negotiatedJson(
  shapeOf('Import', 'What has come of an import.', { ...PROPERTIES, ...LIST_PROPERTIES }, WHOLE),
  { Import: () => ({ summary: 'An import', value: WHOLE }) },
);

/** Imports as they are listed. */
export const MANY = arrayOf(
  negotiatedJson(shapeOf('ImportSummary', 'An import in short.', PROPERTIES, EXAMPLE), {}),
  { ImportList: () => ({ summary: 'Imports', value: [EXAMPLE] }) },
);

/** The answer to HEAD. */
export const HEAD = { name: 'ImportHead', description: 'There is something to read.' };

/** A file that is sent. */
export const FILE_EXAMPLES = {
  ImportFile: () => ({ summary: 'Names by their ids', value: 'id,name\r\n3,Ondine\r\n' }),
};
