/** `GET /docs/`: Swagger UI for our own `/openapi.json`, embedded in the executable. */
import page from '../../../../templates/viewer/page.njk' with { type: 'text' };
import { CatalogError } from '../../../errors.ts';
import { noBody } from '../../operations/body.ts';
import { textContent } from '../../operations/content.ts';
import {
  documentResponse,
  HTML_CONTENT,
  HTML_TYPE,
  type ServedDocument,
  validatorsOf,
} from '../../operations/document.ts';
import { operation, type RequestContext } from '../../operations/operation.ts';
import type { PathParameter } from '../../operations/parameters.ts';
import { definePath, type Path } from '../../operations/path.ts';
import { SERVICE_TAG } from '../tags.ts';

/** Only this server's own files run, and nothing is loaded from another host. */
const POLICY =
  "default-src 'none'; base-uri 'none'; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; img-src 'self' data:; script-src 'self'; style-src 'self' 'unsafe-inline'";

const PAGE: ServedDocument = {
  body: Buffer.from(page),
  type: HTML_TYPE,
  policy: POLICY,
};

/** The names in files.ts, which is loaded only when one is requested, not at every start. */
const NAMES = ['pages.css', 'swagger-ui.css', 'swagger-ui-bundle.js', 'start.js'] as const;

const FILE: PathParameter = {
  component: 'file',
  name: 'file',
  in: 'path',
  description: 'The name of a file of the documentation.',
  schema: { type: 'string', enum: NAMES },
  example: 'start.js',
  pattern: NAMES.map((name) => name.replaceAll('.', String.raw`\.`)).join('|'),
  memorable: true,
};

export const VIEWER_PATHS: readonly Path[] = [
  definePath({
    template: '/docs/',
    catalogFree: true,
    tag: SERVICE_TAG,
    name: 'Documentation',
    about: 'the documentation',
    page: true,
    resolve: () => PAGE,
    validators: validatorsOf,
    operations: {
      GET: operation({
        id: 'readDocumentation',
        summary: 'Read the documentation',
        description: 'This description as a page, on which the operations can be tried out.',
        role: null,
        body: noBody,
        responses: {
          200: {
            name: 'Documentation',
            description: 'The document.',
            headers: ['ETag', 'Content-Security-Policy'],
            content: HTML_CONTENT,
          },
        },
        run: readDocument,
      }),
    },
  }),
  definePath({
    template: '/docs/{file}',
    catalogFree: true,
    parameters: [FILE],
    tag: SERVICE_TAG,
    name: 'DocumentationFile',
    about: 'a file of the documentation',
    resolve: (params) => fileNamed(params.text('file')),
    validators: validatorsOf,
    operations: {
      GET: operation({
        id: 'readDocumentationFile',
        summary: 'Read a file of the documentation',
        description: 'A file that the documentation page or the page of the index loads.',
        role: null,
        body: noBody,
        responses: {
          200: {
            name: 'DocumentationFile',
            description: 'The document.',
            headers: ['ETag'],
            content: textContent('*/*', {
              DocumentationFile: () => ({ summary: 'A file', value: '…' }),
            }),
          },
        },
        run: readDocument,
      }),
    },
  }),
];

async function fileNamed(name: string): Promise<ServedDocument> {
  const known = NAMES.find((each) => each === name);
  if (known === undefined) throw new CatalogError('not_found', 'there is no such document');
  const { VIEWER_FILES } = await import('./files.ts');
  return VIEWER_FILES[known];
}

function readDocument({ found }: RequestContext<ServedDocument>) {
  return documentResponse(found);
}
