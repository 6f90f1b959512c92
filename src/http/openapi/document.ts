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

export function openApiDocument(paths: readonly Path[], settings: Settings): object {
  const { basePath, version } = settings;
  const table = paths.filter(({ internal }) => internal !== true);
  const all = componentsOf(table, demoExamples());
  const described = {
    openapi: OPENAPI,
    info: {
      title: 'Catalog server',
      version,
      summary: "A shop's catalog: books, and with a token SPUs, SKUs and what describes them.",
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
      description: 'The answers to a path, and to a method, that are not described here.',
      path: ref('responses', 'NotFound'),
      method: all.responses['NoSuchMethod'],
      slash: all.responses['SlashMissing'],
    },
  };
  const components = used(described, all);
  return { ...described, components: { securitySchemes: { token: TOKEN }, ...components } };
}

const DESCRIPTION = [
  'Bodies are JSON; one may be declared as any type that ends in `+json`, or not at all. Prices are integers of the smallest currency unit. If a path is not described here, the answer is 404; if it does not have the method, 405 with `Allow`.',
  'Checks are made in this order, and the first that fails decides: path, method, token, role, item or parent, `Accept`, conditions, and last the query or the body.',
  'PUT and PATCH of a SKU add one record for each element of `specs` and remove none: send `specs: []` when you put back what you read. What a PUT leaves out gets its default: without `desc_detail`, `desc_pack` and `desc_service` an SPU loses them.',
  'Pages of other origins may read the answers if the server was started with `--cors-origin`.',
].join('\n\n');

const TOKEN: JsonObject = {
  type: 'http',
  scheme: 'bearer',
  bearerFormat: 'JWT',
  description:
    'From `POST /admin/tokens/`, or from `catalog-server issue-token`. The role `viewer` reads; `editor` also writes; `admin` also reads the audit trail, ends the tokens of others and has pages made. The prefix `JWT` is taken like `Bearer`.',
};

/** Every tag, in the order in which the table first has it. */
function tagsOf(table: readonly Path[]): Tag[] {
  return [...new Map(table.map(({ tag }) => [tag.name, tag])).values()];
}
