/** `/admin/tokens/`: a token for a user name and a password, and the end of a token. */
import { parseDuration } from '../../auth/duration.ts';
import type { Credential } from '../../auth/login.ts';
import { mayActAs, type Role } from '../../auth/roles.ts';
import { type IssuedToken, MAX_ID_LENGTH, type Verified } from '../../auth/tokens.ts';
import { CatalogError, messageOf } from '../../errors.ts';
import { Problems, requireObject } from '../../resources/input.ts';
import type { Endpoint, RequestContext, Method } from './endpoint.ts';
import type { HttpResponse } from '../message.ts';

export const TOKENS_PATH = '/admin/tokens/';

export interface TokenService {
  /**
   * @param lifetime of the token, in seconds.
   * @param address of the client.
   * @throws CatalogError `unauthorized`, `login_throttled`.
   */
  issue(credential: Credential, lifetime: number, address: string): Promise<IssuedToken>;
  /**
   * Ends a token, durably.
   *
   * @param expires seconds since the epoch; null where it is not known.
   */
  revoke(jti: string, expires: number | null): Promise<void>;
}

/** Names are bounded, since those that fail are remembered for a while. */
const MAX_NAME_LENGTH = 255;

const DEFAULT_LIFETIME = '8h';

/** What a client sends, as JSON Schema (2020-12), and whether it has to. */
export const TOKEN_ATTRIBUTES = {
  username: { type: 'string', maxLength: MAX_NAME_LENGTH, required: true },
  password: { type: 'string', required: true },
  expires: {
    type: 'string',
    pattern: '^\\d{1,9}[smhdw]$',
    default: DEFAULT_LIFETIME,
    required: false,
  },
} as const;

/**
 * The endpoint of a path; null where it is no path of tokens. The router keeps routes by the shape
 * of their numbers, and ids of tokens are of any shape.
 */
export function tokenEndpoint(path: string, service: TokenService): Endpoint | null {
  if (!path.startsWith(TOKENS_PATH)) return null;
  if (path.length === TOKENS_PATH.length) return new TokensEndpoint(service);
  const [, jti] = /^([\w.-]+)\/$/.exec(path.slice(TOKENS_PATH.length)) ?? [];
  return jti === undefined || jti.length > MAX_ID_LENGTH || jti.startsWith('.')
    ? null
    : new TokenEndpoint(service, jti);
}

class TokensEndpoint implements Endpoint {
  readonly methods: readonly Method[] = ['POST'];
  readonly negotiates = true;
  readonly emptyNotFound = false;
  readonly #service: TokenService;

  constructor(service: TokenService) {
    this.#service = service;
  }

  /** Whoever wants a token has none. */
  access(): null {
    return null;
  }

  describe(): object {
    return { name: 'token', attributes: TOKEN_ATTRIBUTES };
  }

  load(): undefined {}

  validators(): null {
    return null;
  }

  async handle(_: Method, { body, request, mediaType }: RequestContext): Promise<HttpResponse> {
    const { lifetime, ...credential } = parseCredential(body);
    const { token, id, expires } = await this.#service.issue(credential, lifetime, request.address);
    return {
      status: 201,
      headers: {
        'Content-Type': mediaType,
        'Cache-Control': 'no-store',
        Location: `${request.path}${id}/`,
      },
      body: JSON.stringify({
        token,
        expires_at: new Date(expires * 1000).toISOString().replace('.000Z', 'Z'),
      }),
    };
  }
}

class TokenEndpoint implements Endpoint {
  readonly methods: readonly Method[] = ['DELETE'];
  readonly negotiates = true;
  readonly emptyNotFound = false;
  readonly #service: TokenService;
  readonly #jti: string;

  constructor(service: TokenService, jti: string) {
    this.#service = service;
    this.#jti = jti;
  }

  access(): Role {
    return 'viewer';
  }

  /** An admin ends any token, others end their own. */
  permit({ role, id }: Verified): void {
    if (id === this.#jti || mayActAs(role, 'admin')) return;
    throw new CatalogError('forbidden', `the role ${role} may revoke no token but its own`);
  }

  describe(): object {
    return { name: 'token', attributes: {} };
  }

  /** Tokens are not kept: which there are, nobody knows. */
  load(): undefined {}

  validators(): null {
    return null;
  }

  async handle(_: Method, { caller }: RequestContext): Promise<HttpResponse> {
    await this.#service.revoke(this.#jti, caller?.id === this.#jti ? caller.expires : null);
    return { status: 204, headers: {}, body: null };
  }
}

/** @throws CatalogError `invalid`, with every problem. */
function parseCredential(body: unknown): Credential & { readonly lifetime: number } {
  const sent = requireObject(body);
  const problems = new Problems();
  const text = (name: string, fallback: string | null): string | null => {
    const value = Object.hasOwn(sent, name) ? sent[name] : fallback;
    if (typeof value === 'string') return value;
    problems.add(name, Object.hasOwn(sent, name) ? 'must be a string' : 'is required');
    return null;
  };
  const username = text('username', null) ?? '';
  if (Array.from(username).length > MAX_NAME_LENGTH) {
    problems.add('username', `must have at most ${MAX_NAME_LENGTH} characters`);
  }
  const password = text('password', null) ?? '';
  const lifetime = parseLifetime(text('expires', DEFAULT_LIFETIME), problems);
  problems.settle();
  return { username, password, lifetime };
}

/** @returns seconds. */
function parseLifetime(text: string | null, problems: Problems): number {
  if (text === null) return 0;
  try {
    return parseDuration(text);
  } catch (error) {
    problems.add('expires', messageOf(error));
    return 0;
  }
}
