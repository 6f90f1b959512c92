/** The paths of tokens in the description. */
import { TOKEN_ATTRIBUTES, TOKENS_PATH } from '../endpoints/tokens.ts';
import { JSON_TYPE } from '../rules/negotiation.ts';
import { failures } from './failures.ts';
import { type JsonObject, type Named, ref, without } from './names.ts';
import { optionsOf } from './operations.ts';
import { named } from './parameters.ts';
import { jsonBody, response } from './responses.ts';

export const TOKENS_TAG = 'tokens';

const TOKEN = {
  token:
    'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJyb2xlIjoiZWRpdG9yIiwic3ViIjoiYW5uIn0.c2lnbmF0dXJl',
  expires_at: '2026-11-21T16:00:00Z',
};

const CREDENTIAL = { username: 'ann', password: 'correct horse battery staple', expires: '8h' };

const DESCRIBED: Readonly<Record<string, string>> = {
  username: 'The name of the account.',
  expires: 'How long the token lives: a number and `s`, `m`, `h`, `d` or `w`, up to ten years.',
};

export function tokenPaths(): Named {
  return {
    [TOKENS_PATH]: {
      options: optionsOf('TokenList', 'Describe tokens', TOKENS_TAG),
      post: createOperation(),
    },
    [`${TOKENS_PATH}{jti}/`]: {
      parameters: named('jti'),
      // 404 for a path that no id fits.
      options: optionsOf('Token', 'Describe a token', TOKENS_TAG, [404]),
      delete: deleteOperation(),
    },
  };
}

export function tokenSchemas(): Named {
  const attributes = Object.entries<JsonObject>(TOKEN_ATTRIBUTES);
  return {
    Token: {
      type: 'object',
      description: 'A token for the paths under `/admin/`.',
      properties: {
        token: { type: 'string', description: 'Send it as `Authorization: Bearer <token>`.' },
        expires_at: { type: 'string', format: 'date-time', description: 'UTC.' },
      },
      required: ['token', 'expires_at'],
      examples: [TOKEN],
    },
    TokenInput: {
      type: 'object',
      description: 'Who wants a token.',
      properties: Object.fromEntries(
        attributes.map(([name, attribute]) => [
          name,
          {
            ...without(attribute, 'required'),
            ...(name in DESCRIBED && { description: DESCRIBED[name] }),
          },
        ]),
      ),
      required: attributes.flatMap(([name, { required }]) => (required === true ? [name] : [])),
      examples: [CREDENTIAL],
    },
  };
}

export function tokenExamples(): Named {
  return {
    Token: { summary: 'A token', value: TOKEN },
    TokenInput: { summary: 'A user name and a password', value: CREDENTIAL },
  };
}

export function tokenResponses(): Named {
  return {
    TokenCreated: response(
      'The token. `Location` names the path at which it can be ended.',
      ['Location'],
      jsonBody(ref('schemas', 'Token'), ['Token']),
    ),
    TokenRevoked: response('No request with the token is answered from now on.', []),
  };
}

function createOperation(): JsonObject {
  return {
    operationId: 'createToken',
    summary: 'Get a token',
    description:
      'For the user name and the password of an account. Repeated failures are slowed down, for the name and for the address of the client.',
    tags: [TOKENS_TAG],
    security: [],
    parameters: named('ifMatch'),
    requestBody: {
      required: true,
      content: jsonBody(ref('schemas', 'TokenInput'), ['TokenInput'], [JSON_TYPE]),
    },
    responses: {
      201: ref('responses', 'TokenCreated'),
      ...failures([400, 401, 412, 413, 415, 422, 429, 500]),
    },
  };
}

function deleteOperation(): JsonObject {
  return {
    operationId: 'deleteToken',
    summary: 'End a token',
    description:
      'By its `jti`. Admins end any token, others the one that they send. An id that no token has is no failure.',
    tags: [TOKENS_TAG],
    security: [{ token: [] }],
    parameters: named('ifMatch', 'ifNoneMatch'),
    responses: {
      204: ref('responses', 'TokenRevoked'),
      ...failures([401, 403, 404, 412, 500]),
    },
  };
}
