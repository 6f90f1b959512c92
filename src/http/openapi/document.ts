/** `GET /openapi.json`: OpenAPI 3.1 from the table of operations (spec 5.7). */
import { demoExamples } from '../endpoints/kinds/shapes.ts';
import type { JsonObject } from '../operations/content.ts';
import type { Path, Tag } from '../operations/path.ts';
import type { Settings } from '../operations/settings.ts';
import { VERSION } from '../rules/negotiation.ts';
import { componentsOf, used } from './components.ts';
import { pathItem } from './paths.ts';
import { ref } from './refs.ts';
import { OPENAPI } from './version.ts';

/**
 * @param paths of the table; internal ones are left out.
 * @returns the document as JSON values, with the components that it refers to and no others.
 * @throws Error if a reference leads nowhere.
 */
export function openApiDocument(paths: readonly Path[], settings: Settings): object {
  const { basePath, version } = settings;
  const table = paths.filter(({ internal }) => internal !== true);
  const all = componentsOf(table, demoExamples());
  const described = {
    openapi: OPENAPI,
    info: {
      title: 'Catalog server',
      version,
      summary:
        "A shop's catalog: books, and (with a token) SPUs, SKUs and the resources that describe them.",
      description: DESCRIPTION,
      contact: { name: 'The operator of this server' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [
      { url: basePath === '' ? '/' : basePath },
      { url: `${basePath}/${VERSION}`, description: 'The same, with the version in the path.' },
    ],
    tags: tagsOf(table),
    paths: Object.fromEntries(table.map((path) => [path.template, pathItem(path, basePath)])),
    'x-unlisted': {
      description: 'The responses for paths and methods that are not described here.',
      path: ref('responses', 'NotFound'),
      method: all.responses['NoSuchMethod'],
      slash: all.responses['SlashMissing'],
    },
  };
  const components = used(described, all);
  return { ...described, components: { securitySchemes: { token: TOKEN }, ...components } };
}

const DESCRIPTION = [
  'Bodies are JSON. `Content-Type` is `application/json`, or any type that ends in `+json`, or is left out. Prices are integers of the smallest currency unit. A path that is not described here is 404; a method that the path does not have is 405 with `Allow`.',
  'A request is checked in this order, and the first check that fails determines the response: path, method, token, role, the commit of `Catalog-Min-Sequence`, item or parent, `Accept`, conditions, and the query or body.',
  'PUT and PATCH of a SKU add a specification record for each element of `specs` and remove none: send `specs: []` to put back an object as you read it. PATCH as `application/merge-patch+json` (RFC 7396) replaces the records. A PUT of an SPU without `desc_detail`, `desc_pack` or `desc_service` empties them.',
  'Pages of other origins can read the responses only if the server was started with `--cors-origin`.',
].join('\n\n');

const TOKEN: JsonObject = {
  type: 'http',
  scheme: 'bearer',
  bearerFormat: 'JWT',
  description:
    'From `POST /admin/tokens/`, or from `catalog-server issue-token`. The role `viewer` reads; `editor` also writes; `admin` also reads the whole audit trail, revokes the tokens of others, rebuilds pages, and manages users and webhooks. The prefix `JWT` is accepted in place of `Bearer`.',
};

/** Every tag, in the order of its first use in the table. */
function tagsOf(table: readonly Path[]): Tag[] {
  return [...new Map(table.map(({ tag }) => [tag.name, tag])).values()];
}
