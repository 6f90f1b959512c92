/** `/admin/<collection>/imports/` accepts a file, and `/admin/imports/` shows the results. */
import { missingItem } from '../../../errors.ts';
import type { Kind } from '../../../model/kind.ts';
import {
  malformed,
  type Parameters,
  parseFlag,
  parseParameters,
} from '../../../resources/query/parameters.ts';
import { type Format, FORMAT_TYPES, FORMATS } from '../../../resources/transfer/formats.ts';
import type { ShownImport } from '../../../resources/transfer/import-reports.ts';
import { CREATABLE, parseCreatable } from '../../../resources/transfer/rows/named-rows.ts';
import { type Match, MATCHES, matchesOf } from '../../../resources/transfer/rows/matching.ts';
import { header, type HttpResponse } from '../../message.ts';
import { noBody, stream } from '../../operations/body.ts';
import { text } from '../../operations/common-schemas.ts';
import { operation, type RequestContext } from '../../operations/operation.ts';
import { IDEMPOTENCY_KEY, inQuery, type Parameter, PK } from '../../operations/parameters.ts';
import { definePath, type Path } from '../../operations/path.ts';
import { confirmCaller, requireAccess, subjectOf } from '../../rules/authorization.ts';
import { idempotencyKey } from '../../rules/idempotency-key.ts';
import { mediaTypeOf } from '../../rules/json-body.ts';
import { JSON_OFFERS } from '../../rules/negotiation.ts';
import { PAGING } from '../kinds/list-parameters.ts';
import { componentName } from '../kinds/names.ts';
import { type Place, roleFor, tagOf, templateOf } from '../kinds/place.ts';
import { shortListOf } from '../lists.ts';
import { IMPORTS_TAG } from '../tags.ts';
import { FILE_EXAMPLES, HEAD, MANY, ONE } from './shapes.ts';

/** Most bytes of a file, unless configured otherwise. */
export const MAX_IMPORT_BYTES = 256 * 1024 * 1024;

const DRY_RUN = 'dry_run';
const MATCH = 'match';
const CREATE_MISSING = 'create_missing';

const DRY_RUN_PARAMETER = inQuery(
  DRY_RUN,
  'If `true`, nothing is written, and the import reports what it would write.',
  { ...text, enum: ['false', 'true'], default: 'false' },
);

const MISSING_PARAMETER = inQuery(
  CREATE_MISSING,
  'The collections in which rows are created for names that are not found, separated by commas.',
  { ...text, pattern: `^(?:${CREATABLE.join('|')})(?:,(?:${CREATABLE.join('|')}))*$` },
);

const NAMES = new Set([DRY_RUN, MATCH, CREATE_MISSING]);

/** SKUs alone have a code, so they have a parameter of their own. */
function matchParameter(kind: Kind): Parameter {
  const possible = matchesOf(kind);
  const schema = { ...text, enum: possible, default: 'id' };
  const component = possible.length < MATCHES.length ? MATCH : `${componentName(kind)}Match`;
  return inQuery(MATCH, 'The attribute by which existing rows are found.', schema, component);
}

/** @param maxImport most bytes of a file. */
export function importPath(place: Place, maxImport: number): Path {
  const { kind } = place;
  const name = componentName(kind);
  return definePath<Kind>({
    template: `${templateOf(place)}imports/`,
    tag: tagOf(place),
    name: `${name}ImportList`,
    about: `imports of ${kind.plural}`,
    label: 'import',
    resolve: () => kind,
    operations: {
      POST: operation({
        id: `import${name}List`,
        summary: `Import ${kind.plural}`,
        description:
          'Creates and changes the items in a file. All rows are checked first; if one has an error, none is written.',
        role: roleFor(place, 'POST'),
        parameters: [DRY_RUN_PARAMETER, matchParameter(kind), MISSING_PARAMETER, IDEMPOTENCY_KEY],
        body: stream(
          FORMATS.map((format) => FORMAT_TYPES[format]),
          maxImport,
          FILE_EXAMPLES,
        ),
        responses: {
          202: {
            name: 'ImportAccepted',
            description:
              'The file is imported in the background. `Location` is the path of the import, which shows its progress.',
            headers: ['Location', 'Idempotent-Replayed?'],
            content: ONE,
          },
        },
        failures: [422, 429],
        run: accept,
      }),
    },
  });
}

export const IMPORT_PATHS: readonly Path[] = [
  definePath({
    template: '/admin/imports/',
    executor: 'writer',
    tag: IMPORTS_TAG,
    name: 'ImportList',
    about: 'imports',
    label: 'import',
    offers: JSON_OFFERS,
    resolve: () => undefined,
    operations: {
      GET: operation({
        id: 'listImports',
        summary: 'List the imports',
        description:
          'The last 100 imports, the latest first, without their errors and changes. All of them are returned unless the query requests a page.',
        role: 'viewer',
        parameters: PAGING,
        body: noBody,
        responses: {
          200: {
            name: 'ImportList',
            description: 'The imports.',
            headers: ['X-Total-Count'],
            content: MANY,
            head: { name: 'ImportListHead', description: 'The number of imports.' },
          },
        },
        run: (context) =>
          shortListOf(context, {
            owner: 'imports',
            all: context.services.imports.all(),
            segments: 'admin/imports/',
          }),
      }),
    },
  }),
  definePath({
    template: '/admin/imports/{pk}/',
    executor: 'writer',
    parameters: [PK],
    tag: IMPORTS_TAG,
    name: 'Import',
    about: 'an import',
    label: 'import',
    offers: JSON_OFFERS,
    async resolve(params, { imports }): Promise<ShownImport> {
      const id = params.id('pk');
      const found = await imports.show(id);
      if (found !== null) return found;
      throw missingItem('import', id);
    },
    validators: ({ etag }) => ({ etag }),
    operations: {
      GET: operation({
        id: 'readImport',
        summary: 'Read an import',
        description: 'The progress of the import, its changes and the errors in the file.',
        role: 'viewer',
        body: noBody,
        responses: {
          200: {
            name: 'Import',
            description: 'The import.',
            headers: ['ETag'],
            content: ONE,
            head: HEAD,
          },
        },
        run: ({ found: { etag, text: body }, mediaType }: RequestContext<ShownImport>) => ({
          status: 200,
          headers: { 'Content-Type': mediaType, ETag: etag },
          body,
        }),
      }),
    },
  }),
];

async function accept(
  context: RequestContext<Kind>,
  body: AsyncIterable<Uint8Array>,
): Promise<HttpResponse> {
  const { request, services, found: kind, mediaType, caller } = context;
  const sent = parseParameters({ owner: 'imports', names: NAMES }, request.search);
  const key = idempotencyKey(request);
  const order = {
    kind,
    match: parseMatch(kind, sent.get(MATCH)),
    createMissing: parseMissing(sent),
    format: formatOf(header(request, 'content-type')),
    dryRun: parseFlag(DRY_RUN, sent.get(DRY_RUN) ?? 'false'),
    subject: subjectOf(context),
    requireAccess: () => requireAccess({ caller, services }),
  };
  const accepted = await services.imports.accept(order, confirmedAtEnd(body, context), key);
  const path = request.path.slice(0, -`${kind.path?.slice('/admin/'.length)}imports/`.length);
  return {
    status: 202,
    headers: {
      'Content-Type': mediaType,
      Location: `${path}imports/${accepted.id}/`,
      ...(accepted.replayed && { 'Idempotent-Replayed': 'true' }),
    },
    body: accepted.text,
  };
}

/** The same pieces. @throws CatalogError `unauthorized` if the token was revoked meanwhile. */
async function* confirmedAtEnd(
  body: AsyncIterable<Uint8Array>,
  context: RequestContext<Kind>,
): AsyncGenerator<Uint8Array> {
  yield* body;
  await confirmCaller(context);
}

/** The type has already been checked against the accepted ones. */
function formatOf(contentType: string | undefined): Format {
  const type = mediaTypeOf(contentType);
  return FORMATS.find((format) => FORMAT_TYPES[format] === type) ?? 'csv';
}

function parseMatch(kind: Kind, sent = 'id'): Match {
  const possible = matchesOf(kind);
  const match = possible.find((each) => each === sent);
  if (match !== undefined) return match;
  throw malformed(MATCH, `must be one of ${possible.join(', ')}`);
}

function parseMissing(sent: Parameters): ReadonlySet<string> {
  const value = sent.get(CREATE_MISSING);
  if (value === undefined) return new Set();
  const names = parseCreatable(value);
  if (names !== null) return names;
  throw malformed(
    CREATE_MISSING,
    `must be one or more of ${CREATABLE.join(', ')}, separated by commas`,
  );
}
