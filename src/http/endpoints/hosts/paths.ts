/** `/admin/hosts/`: what hosts that follow this one ask for (spec 15.10 to 15.14). */
import { CatalogError } from '../../../errors.ts';
import { malformed, parseParameters } from '../../../resources/query/parameters.ts';
import { header, type HttpResponse } from '../../message.ts';
import { noBody } from '../../operations/body.ts';
import { plainJson, type Shape, textContent } from '../../operations/content.ts';
import { operation, type RequestContext } from '../../operations/operation.ts';
import type { Parameter } from '../../operations/parameters.ts';
import { definePath, type Path } from '../../operations/path.ts';
import { parseSequence } from '../../rules/catalog-sequence.ts';
import { JSON_TYPE } from '../../rules/negotiation.ts';
import type { HostState, KnownEpoch } from '../../services.ts';
import { isStillAllowed } from '../changes.ts';
import { HOSTS_TAG } from '../tags.ts';

const LINES = 'application/x-ndjson';

const HISTORY = '9f86d081884c7d659a2feaa0c55ad015';
const WRITER = '2c26b46b68ffc68ff99b453c1d304134';
const DIGEST = '0c5e9cc82772b5053d6aab17068c3571cd06593c46ecea762bd3b714341e53cb';

const EXAMPLE: HostState = {
  history: HISTORY,
  epochs: [{ number: 1, writer: WRITER, after: 0 }],
  role: 'primary',
  primary: null,
  schema: 5,
  sequence: 1042,
  digest: DIGEST,
  base_bytes: 31_457_280,
  credentials: DIGEST,
  secret: null,
};

const text = { type: 'string' };
const count = { type: 'integer', minimum: 0 };
const name = { ...text, pattern: '^[0-9a-f]{32}$' };
const digest = { ...text, pattern: '^[0-9a-f]{64}$' };

const STATE: Shape = {
  name: 'HostState',
  schema: () => ({
    type: 'object',
    description: 'What a host has to know before it follows this one.',
    properties: {
      history: { ...name, description: 'The same on all hosts that follow each other.' },
      epochs: {
        type: 'array',
        description: 'Who wrote after which change set; the last one is the current one.',
        items: {
          type: 'object',
          properties: { number: { type: 'integer', minimum: 1 }, writer: name, after: count },
          required: ['number', 'writer', 'after'],
        },
      },
      role: { ...text, enum: ['primary', 'follower', 'succeeded'] },
      primary: { type: ['string', 'null'], description: 'Whom this host follows itself.' },
      schema: { ...count, description: 'The schema version of the store.' },
      sequence: { ...count, description: 'The last change set.' },
      digest: { ...digest, description: 'The digest of the last change set.' },
      base_bytes: { ...count, description: 'About how long a base is.' },
      credentials: { ...digest, description: 'Changes with accounts, keys and revocations.' },
      secret: {
        type: ['string', 'null'],
        description: 'Tells one CATALOG_JWT_SECRET from another; null if the keys are in a file.',
      },
    },
    required: Object.keys(EXAMPLE),
    examples: [EXAMPLE],
  }),
};

const CREDENTIALS_EXAMPLE = {
  digest: DIGEST,
  files: {
    keys: null,
    access: { users: [], revoked_subjects: [], revoked_tokens: [] },
    webhook_key: null,
  },
};

const fileContent = { type: ['object', 'null'], additionalProperties: true };

const CREDENTIALS: Shape = {
  name: 'HostCredentials',
  schema: () => ({
    type: 'object',
    description: 'The files of keys, accounts and revocations: secrets.',
    properties: {
      digest,
      files: {
        type: 'object',
        properties: { keys: fileContent, access: fileContent, webhook_key: fileContent },
        required: ['keys', 'access', 'webhook_key'],
      },
    },
    required: ['digest', 'files'],
    examples: [CREDENTIALS_EXAMPLE],
  }),
};

const KNOWN_EPOCH: Parameter = {
  component: 'catalogEpoch',
  name: 'Catalog-Epoch',
  in: 'header',
  description:
    'The latest epoch that the asking host knows: the name of the history, and the number. A primary of an earlier epoch takes no more writes from then on.',
  schema: { ...text, pattern: String.raw`^[0-9a-f]{32} \d{1,15}$` },
  example: `${HISTORY} 1`,
};

const SINCE: Parameter = {
  component: 'hostsSince',
  name: 'since',
  in: 'query',
  description: 'The change set after which to begin. If left out: the last one.',
  schema: { type: 'integer', minimum: 0 },
};

const LINE = `{"sequence":1,"previous":"${DIGEST}","time":"2026-11-21T08:15:00.000Z","last_ids":{},"put":{},"delete":{},"sha256":"${DIGEST}"}\n`;

const BASE_EXAMPLE = {
  schema: 5,
  sequence: 1042,
  previous: DIGEST,
  time: '2026-11-21T08:15:00.000Z',
  last_ids: {},
  tables: {},
  sha256: DIGEST,
};

const hostsPath = (operationId: string) => ({
  tag: HOSTS_TAG,
  place: 'here' as const,
  internal: true,
  name: operationId,
  resolve: () => undefined,
});

export const HOST_PATHS: readonly Path[] = [
  definePath<undefined>({
    ...hostsPath('HostState'),
    template: '/admin/hosts/state/',
    about: 'the state of this host',
    operations: {
      GET: operation({
        id: 'readHostState',
        summary: 'Read the state of this host',
        description: 'Its history, its epochs, and how far it is. A follower asks once a second.',
        role: 'admin',
        parameters: [KNOWN_EPOCH],
        body: noBody,
        responses: {
          200: {
            name: 'HostState',
            description: 'The state.',
            content: plainJson(STATE, {
              HostState: () => ({ summary: 'A primary', value: EXAMPLE }),
            }),
          },
        },
        run: readState,
      }),
    },
  }),
  definePath<undefined>({
    ...hostsPath('HostCredentials'),
    template: '/admin/hosts/credentials/',
    about: 'the accounts and keys of this host',
    operations: {
      GET: operation({
        id: 'readHostCredentials',
        summary: 'Read the accounts and keys of this host',
        description:
          'The files of signing keys, accounts and revocations, with their secrets. Asked for again when `credentials` of the state changes.',
        role: 'admin',
        body: noBody,
        responses: {
          200: {
            name: 'HostCredentials',
            description: 'The files.',
            content: plainJson(CREDENTIALS, {
              HostCredentials: () => ({ summary: 'No accounts', value: CREDENTIALS_EXAMPLE }),
            }),
          },
        },
        run: ({ services }) => json(services.hosts.credentials()),
      }),
    },
  }),
  definePath<undefined>({
    ...hostsPath('HostBase'),
    template: '/admin/hosts/base/',
    about: 'the base of this host',
    operations: {
      GET: operation({
        id: 'readHostBase',
        summary: 'Read a base',
        description:
          'The whole catalog as of now, as a backup has it: one JSON document with a checksum at its end.',
        role: 'admin',
        body: noBody,
        responses: {
          200: {
            name: 'HostBase',
            description: 'The base.',
            content: {
              ...textContent(JSON_TYPE, {
                HostBase: () => ({ summary: 'The form of a base', value: BASE_EXAMPLE }),
              }),
              schema: { type: 'object' },
            },
          },
        },
        run: ({ services }) => ({
          status: 200,
          headers: { 'Content-Type': JSON_TYPE },
          body: services.hosts.base(),
        }),
      }),
    },
  }),
  definePath<undefined>({
    ...hostsPath('HostChanges'),
    template: '/admin/hosts/changes/',
    about: 'the change sets of this host',
    operations: {
      GET: operation({
        id: 'followHostChanges',
        summary: 'Follow the change sets',
        description:
          'The change sets after `since` as they are stored, a line each, and all that follow. The answer does not end; empty lines show that it goes on.',
        role: 'admin',
        parameters: [SINCE],
        body: noBody,
        responses: {
          200: {
            name: 'HostChanges',
            description: 'The change sets.',
            content: textContent(LINES, {
              HostChanges: () => ({
                summary: 'A change set, and an empty line',
                value: `${LINE}\n`,
              }),
            }),
          },
        },
        failures: [410],
        run: followChanges,
      }),
    },
  }),
];

async function readState({ request, services }: RequestContext<undefined>): Promise<HttpResponse> {
  return json(await services.hosts.state(parseEpoch(header(request, 'catalog-epoch'))));
}

function followChanges({ request, services }: RequestContext<undefined>): HttpResponse {
  const { hosts, changes, tokens } = services;
  const sent = parseParameters({ owner: 'hosts', names: new Set(['since']) }, request.search);
  const value = sent.get('since');
  const since = value === undefined ? changes.sequence : parseSequence(value);
  if (since === null) throw malformed('since', 'must be the number of a change set, in digits');
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
