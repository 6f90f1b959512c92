/** Serves the files of the shop from the folder of pages, and no others; they need no token. */
import { CatalogError } from '../../errors.ts';
import { networkOf } from '../../network.ts';
import { noBody } from '../operations/body.ts';
import { type Content, textContent } from '../operations/content.ts';
import {
  documentResponse,
  HTML_CONTENT,
  HTML_TYPE,
  type ServedDocument,
  validatorsOf,
} from '../operations/document.ts';
import { operation } from '../operations/operation.ts';
import { idInPath, type PathParameter } from '../operations/parameters.ts';
import { definePath, type Path } from '../operations/path.ts';
import { PAGES_TAG } from './tags.ts';

/** A page may load this server's style sheet, and pictures from any HTTPS host, but no script. */
export const POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "img-src 'self' https: data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** What files of one type have in common. */
interface FileType {
  readonly type: string;
  readonly policy?: string;
  readonly headers: readonly string[];
  readonly content: Content;
}

const HTML: FileType = {
  type: HTML_TYPE,
  policy: POLICY,
  headers: ['ETag', 'Content-Security-Policy', 'Last-Modified?'],
  content: HTML_CONTENT,
};

const XML: FileType = {
  type: 'application/xml; charset=utf-8',
  headers: ['ETag', 'Last-Modified?'],
  content: textContent('application/xml', {
    Sitemap: () => ({ summary: 'A sitemap', value: '<?xml version="1.0" encoding="UTF-8"?>' }),
  }),
};

const CSS: FileType = {
  type: 'text/css; charset=utf-8',
  headers: ['ETag', 'Last-Modified?'],
  content: textContent('text/css', {
    Style: () => ({ summary: 'A style sheet', value: ':root { }' }),
  }),
};

const ID = idInPath('id', 'The id of an SPU or a category.');

const SKU_ID = idInPath('id', 'The id of a SKU.', { component: 'sku' });

const PART = idInPath('part', 'The part of the list; the first part has no number.', {
  minimum: 2,
});

const SITEMAP: PathParameter = {
  component: 'sitemap',
  name: 'name',
  in: 'path',
  description: 'The kind of the pages, and a range of 1,000 ids: 1 has the ids from 1 to 1000.',
  schema: { type: 'string', pattern: '^(?:skus|goods|categories)-[1-9][0-9]*$' },
  example: 'skus-1',
  pattern: String.raw`(?:skus|goods|categories)-\d+`,
  memorable: true,
};

/** A file of the folder, or all files that differ only in a parameter. */
interface PageFile {
  /** Its path in the folder, and below `/pages/`. */
  readonly file: string;
  /** The path below `/pages/`, if it differs from `file`. */
  readonly at?: string;
  readonly parameters?: readonly PathParameter[];
  readonly type: FileType;
  /** The operations are named after it. */
  readonly name: string;
  /** What it is, such as "the front page". */
  readonly about: string;
  readonly description: string;
}

const MORE = 'A list of more than 48 entries continues here.';

const FILES: readonly PageFile[] = [
  {
    at: '',
    file: 'index.html',
    type: HTML,
    name: 'FrontPage',
    about: 'the front page',
    description: 'The categories of the first level. `/pages/index.html` is the same.',
  },
  {
    file: 'index.html',
    type: HTML,
    name: 'FrontPageFile',
    about: 'the front page at its file name',
    description: 'The categories of the first level.',
  },
  {
    file: 'index/{part}.html',
    parameters: [PART],
    type: HTML,
    name: 'FrontPagePart',
    about: 'more of the front page',
    description: MORE,
  },
  {
    file: 'categories/{id}.html',
    parameters: [ID],
    type: HTML,
    name: 'CategoryPage',
    about: 'the page of a category',
    description: 'The categories below it, or its SKUs.',
  },
  {
    file: 'categories/{id}/{part}.html',
    parameters: [ID, PART],
    type: HTML,
    name: 'CategoryPagePart',
    about: 'more of the page of a category',
    description: MORE,
  },
  {
    file: 'goods/{id}.html',
    parameters: [ID],
    type: HTML,
    name: 'SpuPage',
    about: 'the page of an SPU',
    description: 'Its descriptions, and its SKUs with their options.',
  },
  {
    file: 'goods/{id}/{part}.html',
    parameters: [ID, PART],
    type: HTML,
    name: 'SpuPagePart',
    about: 'more of the page of an SPU',
    description: MORE,
  },
  {
    file: 'skus/{id}.html',
    parameters: [SKU_ID],
    type: HTML,
    name: 'Page',
    about: 'the detail page of a SKU',
    description:
      'Rebuilt after every change of what it shows. A SKU that is off sale keeps its page, without price and stock; the page of a deleted SKU is removed.',
  },
  {
    file: 'sitemap.xml',
    type: XML,
    name: 'Sitemap',
    about: 'the index of the sitemap',
    description: 'Exists only if the server knows its public address (`--public-url`).',
  },
  {
    file: 'sitemap-{name}.xml',
    parameters: [SITEMAP],
    type: XML,
    name: 'SitemapPart',
    about: 'a file of the sitemap',
    description:
      'The addresses of the pages with a range of ids: `skus-1` has those from 1 to 1000.',
  },
  {
    file: 'style.css',
    type: CSS,
    name: 'Style',
    about: 'the style sheet of the pages',
    description: 'All pages of the shop use it.',
  },
];

export const PAGE_PATHS: readonly Path[] = FILES.map(pagePath);

function pagePath({ file, at = file, parameters = [], type, ...described }: PageFile): Path {
  const { name, about, description } = described;
  const { headers, content, ...served } = type;
  return definePath({
    template: `/pages/${at}`,
    executor: 'owner',
    parameters,
    tag: PAGES_TAG,
    name,
    about,
    page: at === '',
    async resolve(params, { page }, { address }): Promise<ServedDocument> {
      const found = await page(params.fill(file), networkOf(address));
      if (found === null) throw new CatalogError('not_found', 'there is no such document');
      return { ...found, ...served };
    },
    validators: validatorsOf,
    operations: {
      GET: operation({
        id: `read${name}`,
        summary: `Read ${about}`,
        description,
        role: null,
        body: noBody,
        responses: { 200: { name, description: 'The document.', headers, content } },
        failures: [404],
        run: ({ found }: { readonly found: ServedDocument }) => documentResponse(found),
      }),
    },
  });
}
