/** Imports in the description of the API. */
import { CREATABLE } from '../../../resources/transfer/rows/named-rows.ts';
import { count, positive, text } from '../../operations/common-schemas.ts';
import { arrayOf, defineShape, negotiatedJson, type Shape } from '../../operations/content.ts';

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
  created_missing_count: 0,
};

const LISTS = {
  errors: [{ row: 3, column: 'category', message: 'there is no category "Phonse"' }],
  changes: [],
  created_missing: [],
};

/** Members that reports of earlier versions lack. */
const OPTIONAL: ReadonlySet<string> = new Set(['created_missing_count', 'created_missing']);

const PROPERTIES = {
  id: positive,
  collection: { ...text, description: 'The name of the collection in the path.' },
  state: { ...text, enum: ['checking', 'writing', 'done', 'refused', 'failed'] },
  dry_run: {
    type: 'boolean',
    description: 'Whether the import only reports what it would change.',
  },
  rows: { ...count, description: 'Rows of the file, without the header and empty rows.' },
  created: count,
  changed: count,
  unchanged: count,
  refused: { ...count, description: 'Rows with errors.' },
  error_count: count,
  change_count: count,
  created_missing_count: {
    ...count,
    description: 'Rows that were created for names; absent from reports of earlier versions.',
  },
};

const LIST_PROPERTIES = {
  errors: {
    type: 'array',
    description: 'The first 1,000 errors.',
    items: {
      type: 'object',
      properties: {
        row: { type: ['integer', 'null'], description: 'The header counts.' },
        column: { type: ['string', 'null'] },
        message: text,
      },
      required: ['row', 'column', 'message'],
    },
  },
  changes: {
    type: 'array',
    description: 'The first 1,000 changes, or fewer if they are very long.',
    items: {
      type: 'object',
      properties: {
        row: { type: 'integer' },
        id: positive,
        action: { ...text, enum: ['create', 'update'] },
        fields: {
          type: 'object',
          additionalProperties: { type: 'array', minItems: 2, maxItems: 2 },
          description: 'The values before and after, for each attribute that differs.',
        },
      },
      required: ['row', 'id', 'action', 'fields'],
    },
  },
  created_missing: {
    type: 'array',
    description:
      'The first 1,000 rows that `create_missing` has created for names; absent from reports of earlier versions.',
    items: {
      type: 'object',
      properties: {
        row: { type: 'integer', description: 'The first row of the file with the name.' },
        resource: { ...text, enum: CREATABLE },
        id: positive,
        name: text,
      },
      required: ['row', 'resource', 'id', 'name'],
    },
  },
};

function shapeOf(name: string, description: string, properties: object, example: object): Shape {
  const required = Object.keys(properties).filter((each) => !OPTIONAL.has(each));
  return defineShape({ name, description, properties, required, example });
}

const WHOLE = { ...EXAMPLE, ...LISTS };

/** An import as its own path shows it. */
export const ONE = negotiatedJson(
  shapeOf(
    'Import',
    'The progress and the result of an import.',
    { ...PROPERTIES, ...LIST_PROPERTIES },
    WHOLE,
  ),
  { Import: () => ({ summary: 'An import', value: WHOLE }) },
);

/** Imports as the list shows them. */
export const MANY = arrayOf(
  negotiatedJson(
    shapeOf(
      'ImportSummary',
      'An import without its lists of errors and changes.',
      PROPERTIES,
      EXAMPLE,
    ),
    {},
  ),
  { ImportList: () => ({ summary: 'Imports', value: [EXAMPLE] }) },
);

/** The response to HEAD. */
export const HEAD = { name: 'ImportHead', description: 'The import exists.' };

/** An example of a file that is sent. */
export const FILE_EXAMPLES = {
  ImportFile: () => ({ summary: 'Names by their ids', value: 'id,name\r\n3,Ondine\r\n' }),
};
