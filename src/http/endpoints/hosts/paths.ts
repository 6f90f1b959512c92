/**
 * `/admin/hosts/`: the paths for hosts that follow this one (spec 15.10 to 15.14). Both sides run
 * the same version of this program, so the description of the API leaves these paths out. The
 * follower checks the responses (src/hosts/following/primary-client.ts).
 */
import { CatalogError } from '../../../errors.ts';
import { parseParameters } from '../../../resources/query/parameters.ts';
import { header, type HttpResponse } from '../../message.ts';
import { noBody } from '../../operations/body.ts';
import { textContent } from '../../operations/content.ts';
import { operation, type RequestContext } from '../../operations/operation.ts';
import { definePath, type Path } from '../../operations/path.ts';
import { isStillAllowed } from '../../rules/authorization.ts';
import { parseSince } from '../../rules/catalog-sequence.ts';
import { JSON_TYPE } from '../../rules/negotiation.ts';
import type { KnownEpoch } from '../../services.ts';
import { HOSTS_TAG } from '../tags.ts';

const LINES = 'application/x-ndjson';

interface Question {
  /** The last segment of the path. */
  readonly path: string;
  readonly name: string;
  /** What the path is about, for the summaries. */
  readonly about: string;
  /** The media type of the response. */
  readonly type: string;
  readonly run: (context: RequestContext<undefined>) => HttpResponse | Promise<HttpResponse>;
}

export const HOST_PATHS: readonly Path[] = [
  hostPath({
    path: 'state',
    name: 'HostState',
    about: 'the history and the epochs of this host, and its last change set',
    type: JSON_TYPE,
    run: readState,
  }),
  hostPath({
    path: 'credentials',
    name: 'HostCredentials',
    about: 'the accounts, revocations and keys of this host',
    type: JSON_TYPE,
    run: ({ services }) => json(services.hosts.credentials()),
  }),
  hostPath({
    path: 'base',
    name: 'HostBase',
    about: 'the whole catalog as of now, as a backup has it',
    type: JSON_TYPE,
    run: ({ services }) => ({
      status: 200,
      headers: { 'Content-Type': JSON_TYPE },
      body: services.hosts.base(),
    }),
  }),
  hostPath({
    path: 'changes',
    name: 'HostChanges',
    about: 'the change sets of this host, as they are stored, and all that follow',
    type: LINES,
    run: followChanges,
  }),
];

function hostPath({ path, name, about, type, run }: Question): Path {
  return definePath<undefined>({
    template: `/admin/hosts/${path}/`,
    tag: HOSTS_TAG,
    name,
    about,
    executor: 'owner',
    internal: true,
    resolve: () => undefined,
    operations: {
      GET: operation({
        id: `read${name}`,
        summary: `Read ${about}`,
        description: '',
        role: 'admin',
        body: noBody,
        responses: { 200: { name, description: about, content: textContent(type, {}) } },
        failures: [410],
        run,
      }),
    },
  });
}

async function readState({ request, services }: RequestContext<undefined>): Promise<HttpResponse> {
  return json(await services.hosts.state(parseEpoch(header(request, 'catalog-epoch'))));
}

function followChanges({ request, services }: RequestContext<undefined>): HttpResponse {
  const { hosts, changes, tokens } = services;
  const sent = parseParameters({ owner: 'hosts', names: new Set(['since']) }, request.search);
  const since = parseSince(sent) ?? changes.sequence;
  return {
    status: 200,
    headers: { 'Content-Type': LINES },
    body: hosts.changes(since, () => isStillAllowed(request, tokens)),
  };
}

function json(value: object): HttpResponse {
  return { status: 200, headers: { 'Content-Type': JSON_TYPE }, body: JSON.stringify(value) };
}

/** @throws CatalogError `malformed_request`. */
function parseEpoch(value: string | undefined): KnownEpoch | null {
  if (value === undefined) return null;
  const [, history, number] = /^([0-9a-f]{32}) (\d{1,15})$/.exec(value) ?? [];
  if (history !== undefined) return { history, number: Number(number) };
  throw new CatalogError(
    'malformed_request',
    'Catalog-Epoch must be the name of a history and the number of an epoch',
  );
}
