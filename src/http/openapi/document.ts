/** `GET /openapi.json`: OpenAPI 3.1 from the declarations that validate (spec 5.7). */
import type { Kind } from '../../model/kind.ts';
import { ALL_KINDS, COLLECTIONS, KINDS } from '../../model/kinds.ts';
import { Examples } from '../../resources/examples.ts';
import { VERSION } from '../rules/negotiation.ts';
import { documentPaths, documentResponses, PAGES_TAG, SERVICE_TAG } from './documents.ts';
import { failureResponses } from './failures.ts';
import { headers } from './headers.ts';
import { healthExamples, healthPaths, healthResponses, healthSchemas } from './health.ts';
import { capitalised, type JsonObject, type Named, ref, without } from './names.ts';
import { collectionPath, itemPath } from './operations.ts';
import {
  pageBuildExamples,
  pageBuildPaths,
  pageBuildResponses,
  pageBuildSchemas,
} from './page-builds.ts';
import { parameters } from './parameters.ts';
import { exampleComponents, successResponses } from './responses.ts';
import { OPENAPI, schemas } from './schemas.ts';
import { TOKENS_TAG, tokenExamples, tokenPaths, tokenResponses, tokenSchemas } from './tokens.ts';

/**
 * @param basePath "" or a path such as "/api".
 * @param protectsOpen whether writing what anybody may read takes a token.
 */
export function openApiDocument(basePath: string, version: string, protectsOpen = false): object {
  const examples = new Examples();
  const described = {
    openapi: OPENAPI,
    info: {
      title: 'Catalog server',
      version,
      summary: "A shop's catalog: books, and behind tokens SPUs, SKUs and what describes them.",
      description: DESCRIPTION,
      contact: { name: 'Whoever runs this server' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [
      { url: basePath === '' ? '/' : basePath },
      { url: `${basePath}/${VERSION}`, description: 'The same, with the version in the path.' },
    ],
    tags: tags(protectsOpen),
    paths: {
      ...documentPaths(),
      ...healthPaths(),
      ...tokenPaths(),
      ...pageBuildPaths(),
      ...kindPaths(protectsOpen),
    },
    'x-unlisted': {
      description: 'The answers to a path, and to a method, that are not described here.',
      path: ref('responses', 'NotFound'),
      method: failureResponses(examples)['NoSuchMethod'],
    },
  };
  const components = used(described, {
    schemas: {
      ...schemas(examples, basePath, version),
      ...healthSchemas(),
      ...tokenSchemas(),
      ...pageBuildSchemas(),
    },
    examples: {
      ...exampleComponents(examples, basePath, version),
      ...healthExamples(),
      ...tokenExamples(),
      ...pageBuildExamples(),
    },
    headers: headers(examples),
    parameters: parameters(),
    responses: withoutBodies({
      ...failureResponses(examples),
      ...successResponses(),
      ...documentResponses(),
      ...healthResponses(),
      ...tokenResponses(),
      ...pageBuildResponses(),
    }),
  });
  const securitySchemes = { token: TOKEN };
  return { ...described, components: { securitySchemes, ...components } };
}

const DESCRIPTION = [
  'Bodies are JSON; one may be declared as any type that ends in `+json`, or not at all. Prices are integers of the smallest currency unit. Where a path is not described here, the answer is 404; where it does not have the method, 405 with `Allow`.',
  'Checks are made in this order, and the first that fails decides: path, method, token, role, item or parent, `Accept`, conditions, and last the query or the body.',
  'PUT and PATCH of a SKU add one record for each element of `specs` and remove none: send `specs: []` when you put back what you read. What a PUT leaves out gets its default: without `desc_detail`, `desc_pack` and `desc_service` an SPU loses them.',
  'Pages of other origins may read the answers where the server was started with `--cors-origin`.',
].join('\n\n');

const TOKEN = {
  type: 'http',
  scheme: 'bearer',
  bearerFormat: 'JWT',
  description:
    'From `POST /admin/tokens/`, or from `catalog-server issue-token`. The role `viewer` reads; `editor` also writes; `admin` also reads the audit trail, ends the tokens of others and has pages made. The prefix `JWT` is taken like `Bearer`.',
};

/** Every path of a kind. */
function kindPaths(protectsOpen: boolean): Named {
  const paths: Named = {};
  for (const [path, kind] of COLLECTIONS) {
    paths[path] = collectionPath({ kind, nesting: null, protectsOpen });
    paths[`${path}{pk}/`] = itemPath({ kind, nesting: null, protectsOpen });
  }
  for (const kind of ALL_KINDS) {
    for (const nesting of kind.nestings) {
      const path = `${KINDS[nesting.parent].path}{pk}/${nesting.segment}/`;
      paths[path] = collectionPath({ kind, nesting, protectsOpen });
      paths[`${path}{child}/`] = itemPath({ kind, nesting, protectsOpen });
    }
  }
  return paths;
}

function tags(protectsOpen: boolean): JsonObject[] {
  return [
    { name: SERVICE_TAG, description: 'What the server says of itself.' },
    { name: TOKENS_TAG, description: 'The way in: tokens for accounts, and their end.' },
    ...[...COLLECTIONS.values()].map((kind) => ({
      name: kind.plural,
      description: about(kind, protectsOpen),
    })),
    { name: PAGES_TAG, description: 'What the shop shows of its SKUs.' },
  ];
}

function about({ plural, path, public: open, adminOnly }: Kind, protectsOpen: boolean): string {
  const asked = protectsOpen ? 'A token is asked for to write.' : 'No token is asked for.';
  const token = adminOnly ? 'a token with the role `admin`' : 'a token';
  return `${capitalised(plural)}, at \`${path}\`. ${open ? asked : `For holders of ${token}.`}`;
}

/** The same with a response without a body, `…Head`, beside each. */
function withoutBodies(responses: Named): Named {
  const heads = Object.entries(responses).map(([name, response]) => [
    `${name}Head`,
    without(response, 'content'),
  ]);
  return { ...(Object.fromEntries(heads) as Named), ...responses };
}

/** The components that are pointed at, directly or by others. */
function used(from: JsonObject, components: Readonly<Record<string, Named>>): JsonObject {
  const kept: Record<string, Named> = {};
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, each] of Object.entries(value)) {
      if (key === '$ref') keep(String(each));
      else visit(each);
    }
  };
  const keep = (pointer: string): void => {
    const [section = '', name = ''] = pointer.split('/').slice(2);
    if (kept[section]?.[name] !== undefined) return;
    const component = components[section]?.[name];
    if (component === undefined) throw new Error(`${pointer} leads nowhere`);
    (kept[section] ??= {})[name] = component;
    visit(component);
  };
  visit(from);
  return kept;
}
