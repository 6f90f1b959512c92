/** `/admin/tokens/`: issues tokens for a user name and a password, renews and revokes them. */
import * as v from 'valibot';
import { parseDuration } from '../../auth/duration.ts';
import { mayActAs } from '../../auth/roles.ts';
import { toIso } from '../../auth/time.ts';
import { type IssuedToken, MAX_ID_LENGTH, unauthorized, type Verified } from '../../auth/tokens.ts';
import { CatalogError, messageOf } from '../../errors.ts';
import { longText, shortText } from '../../model/schemas.ts';
import type { HttpResponse } from '../message.ts';
import { json, noBody } from '../operations/body.ts';
import { instant, text } from '../operations/common-schemas.ts';
import { defineShape, negotiatedJson } from '../operations/content.ts';
import {
  operation,
  type RequestContext,
  type ResponseDeclaration,
} from '../operations/operation.ts';
import type { PathParameter } from '../operations/parameters.ts';
import type { Params } from '../operations/params.ts';
import { definePath, type Path } from '../operations/path.ts';
import { callerOf } from '../rules/authorization.ts';
import { JSON_OFFERS } from '../rules/negotiation.ts';
import { TOKENS_TAG } from './tags.ts';

/** Names are bounded because names whose login failed are kept for a while. */
const MAX_NAME_LENGTH = 255;

/** A text such as `8h`, as seconds. */
const lifetime = v.pipe(
  longText,
  v.description(
    'The lifetime of the token: a number and `s`, `m`, `h`, `d` or `w`, up to ten years.',
  ),
  v.metadata({ maxLength: 10, pattern: String.raw`^0*[1-9]\d*[smhdw]$` }),
  v.rawTransform<string, number>(({ dataset, addIssue, NEVER }) => {
    try {
      return parseDuration(dataset.value);
    } catch (error) {
      addIssue({ message: messageOf(error) });
      return NEVER;
    }
  }),
);

const tokenRequest = v.pipe(
  v.object(
    {
      username: v.pipe(shortText(MAX_NAME_LENGTH), v.description('The name of the account.')),
      password: longText,
      expires: v.optional(lifetime, '8h'),
    },
    'is required',
  ),
  v.description('The credentials of an account.'),
);

const TOKEN_INPUT = {
  summary: 'A user name and a password',
  value: { username: 'ann', password: 'correct horse battery staple', expires: '8h' },
};

/** A missing user name or password is 401, like a wrong one (spec 6.6). */
function requireCredential(body: unknown): void {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return;
  const { username, password } = body as Readonly<Record<string, unknown>>;
  const missing = Object.entries({ username, password }).filter(([, given]) => isMissing(given));
  if (missing.length === 0) return;
  throw unauthorized(missing.map(([name]) => `${name}: is required`).join('; '));
}

function isMissing(given: unknown): boolean {
  return given === undefined || given === null;
}

const renewalRequest = v.pipe(
  v.object({}),
  v.description('An empty object: the token to renew is in the Authorization header.'),
);

const RENEWAL_INPUT = { summary: 'An empty object', value: {} };

const TOKEN_EXAMPLE = {
  token:
    'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJyb2xlIjoiZWRpdG9yIiwic3ViIjoiYW5uIn0.c2lnbmF0dXJl',
  expires_at: '2026-11-21T16:00:00Z',
};

const TOKEN = defineShape({
  name: 'Token',
  description: 'A token for the paths under `/admin/`.',
  properties: {
    token: { ...text, description: 'Send it as `Authorization: Bearer <token>`.' },
    expires_at: { ...instant, description: 'UTC.' },
  },
  example: TOKEN_EXAMPLE,
});

const TOKEN_CREATED: ResponseDeclaration = {
  name: 'TokenCreated',
  description: 'The token. DELETE on the path in `Location` revokes it.',
  headers: ['Location', 'Preference-Applied?'],
  content: negotiatedJson(TOKEN, {
    Token: () => ({ summary: 'A token', value: TOKEN_EXAMPLE }),
  }),
};

const JTI: PathParameter = {
  component: 'jti',
  name: 'jti',
  in: 'path',
  description: 'The id of a token: its claim `jti`.',
  schema: { ...text, pattern: '^[A-Za-z0-9_-][A-Za-z0-9_.-]*$', maxLength: MAX_ID_LENGTH },
  example: '3f0a1c52-7d7e-4d0b-9a31-0f6f9c2b8e44',
  pattern: String.raw`[\w-][\w.-]{0,${MAX_ID_LENGTH - 1}}`,
  memorable: false,
};

export const TOKEN_PATHS: readonly Path[] = [
  definePath({
    template: '/admin/tokens/',
    tag: TOKENS_TAG,
    name: 'TokenList',
    about: 'tokens',
    label: 'token',
    offers: JSON_OFFERS,
    resolve: () => undefined,
    operations: {
      POST: operation({
        id: 'createToken',
        summary: 'Get a token',
        description:
          'For the user name and the password of an account. Repeated failures are throttled by name and by client address.',
        // A client that requests a token has none yet.
        role: null,
        body: json('TokenInput', tokenRequest, TOKEN_INPUT, { refuse: requireCredential }),
        responses: { 201: TOKEN_CREATED },
        failures: [401, 429],
        run: createToken,
      }),
    },
  }),
  // Before `/admin/tokens/{jti}/`, which would match it as well.
  definePath({
    template: '/admin/tokens/renewal/',
    tag: TOKENS_TAG,
    name: 'TokenRenewal',
    about: 'renewing a token',
    label: 'token',
    offers: JSON_OFFERS,
    resolve: () => undefined,
    operations: {
      POST: operation({
        id: 'renewToken',
        summary: 'Renew a token',
        description:
          'Issues another token for the account of the token in the request, with the current role of the account and with the lifetime of that token, which stays valid. Renewal works for 30 days after the login (`auth_time`); after that, or if the account was disabled or removed, it is 401. For a token that was issued without a login it is 403.',
        role: 'viewer',
        body: json('TokenRenewalInput', renewalRequest, RENEWAL_INPUT, { optional: true }),
        responses: { 201: TOKEN_CREATED },
        failures: [403, 429],
        run: renewToken,
      }),
    },
  }),
  definePath({
    template: '/admin/tokens/{jti}/',
    parameters: [JTI],
    tag: TOKENS_TAG,
    name: 'Token',
    about: 'a token',
    label: 'token',
    // Issued tokens are not stored, so any id is accepted.
    resolve: (params) => params.text('jti'),
    operations: {
      DELETE: operation({
        id: 'deleteToken',
        summary: 'Revoke a token',
        description:
          'By its `jti`. The role `admin` can revoke any token, other roles only the token of the request. An unknown id is not an error.',
        role: 'viewer',
        permit: requireOwn,
        body: noBody,
        responses: {
          204: {
            name: 'TokenRevoked',
            description: 'The token is revoked: requests with it are 401 from now on.',
          },
        },
        failures: [403],
        run: deleteToken,
      }),
    },
  }),
];

async function createToken(
  { services, request, mediaType }: RequestContext<undefined>,
  { username, password, expires: seconds }: v.InferOutput<typeof tokenRequest>,
): Promise<HttpResponse> {
  const credential = { username, password };
  const issued = await services.tokenService.issue(credential, seconds, request.address);
  return tokenResponse(issued, request.path, mediaType);
}

async function renewToken(context: RequestContext<undefined>): Promise<HttpResponse> {
  const { services, request, mediaType } = context;
  const issued = await services.tokenService.renew(callerOf(context));
  return tokenResponse(issued, request.path.replace(/renewal\/$/, ''), mediaType);
}

/** @param path of the tokens. */
function tokenResponse(
  { token, id, expires }: IssuedToken,
  path: string,
  mediaType: string,
): HttpResponse {
  return {
    status: 201,
    headers: {
      'Content-Type': mediaType,
      'Cache-Control': 'no-store',
      Location: `${path}${id}/`,
    },
    body: JSON.stringify({ token, expires_at: toIso(expires) }),
  };
}

/** Admins may revoke any token, others only their own. @throws CatalogError `forbidden`. */
function requireOwn({ role, id }: Verified, params: Params): void {
  if (id === params.text('jti') || mayActAs(role, 'admin')) return;
  throw new CatalogError('forbidden', `the role ${role} may revoke only its own token`);
}

async function deleteToken(context: RequestContext<string>): Promise<HttpResponse> {
  const { services, found: jti } = context;
  const caller = callerOf(context);
  await services.tokenService.revoke(jti, caller.id === jti ? caller : null);
  return { status: 204, headers: {}, body: null };
}
