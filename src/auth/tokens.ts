/** JSON Web Tokens (RFC 7519) under the rules of RFC 8725: one algorithm, every claim required. */
import { randomUUID } from 'node:crypto';
import { decodeProtectedHeader, type JWTPayload, jwtVerify, SignJWT } from 'jose';
import { CatalogError } from '../errors.ts';
import type { Access } from './access.ts';
import type { CurrentCredentials } from './credentials.ts';
import type { SigningKey, SigningKeys } from './keys.ts';
import { isRole, type Role } from './roles.ts';
import { isNumericDate, LEEWAY_S } from './time.ts';

const ALGORITHM = 'HS256';
const ISSUER = 'catalog-server';
const AUDIENCE = 'catalog-admin';

/** Verified tokens in the cache; the oldest are removed first. */
const MAX_CACHED_TOKENS = 10_000;

/** Most characters of a `jti`. A token with a longer one is refused: it could not be revoked. */
export const MAX_ID_LENGTH = 255;

/**
 * Most characters of a token before its first dot. This part is parsed before the signature is
 * verified, and a client could fill it with names that slow down the engine
 * (src/json/json-parser.ts). Ours has 80.
 */
const MAX_HEADER_LENGTH = 512;

export interface Caller {
  readonly subject: string;
  readonly role: Role;
}

/** Times are seconds since the epoch. */
export interface IssuedToken {
  /** A compact JWT. */
  readonly token: string;
  /** Its `jti`. */
  readonly id: string;
  readonly expires: number;
}

/** The caller that a valid token identifies. Times are seconds since the epoch. */
export interface Verified extends Caller {
  /** The token's `jti`. */
  readonly id: string;
  readonly issued: number;
  readonly expires: number;
  /** When the user logged in for this token or one that it renews; null if there was no login. */
  readonly loggedIn: number | null;
}

/** A verified token and the expiry of its key. */
interface Cached extends Verified {
  readonly keyUntil: number;
}

/** When a token is valid. Times are seconds since the epoch. */
interface Validity {
  readonly issued: number;
  readonly expires: number;
  /** The `loggedIn` of {@link Verified}: claim `auth_time` (OpenID Connect Core, section 2). */
  readonly loggedIn?: number | null;
}

/** Signs a token with the first key. */
export async function issueToken(
  [{ kid, secret }]: SigningKeys,
  { subject, role }: Caller,
  { issued, expires, loggedIn = null }: Validity,
): Promise<IssuedToken> {
  const id = randomUUID();
  const claims = loggedIn === null ? { role } : { role, auth_time: loggedIn };
  const token = await new SignJWT(claims)
    .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT', kid })
    .setSubject(subject)
    .setIssuer(ISSUER)
    .setAudience(AUDIENCE)
    .setJti(id)
    .setIssuedAt(issued)
    .setExpirationTime(expires)
    .sign(secret);
  return { token, id, expires };
}

export class TokenVerifier {
  readonly #credentials: CurrentCredentials;
  readonly #now: () => number;
  /** By header. Only the check of the signature is cached, not whether the token is valid now. */
  readonly #verified = new Map<string, Cached>();
  /** The header that was looked up last: comparing it is cheaper than hashing it. */
  #latest: { readonly header: string; readonly verified: Cached } | null = null;
  /** The keys that verified all cached tokens. */
  #keys: SigningKeys | null = null;

  /** @param now milliseconds since the epoch. */
  constructor(credentials: CurrentCredentials, now: () => number = Date.now) {
    this.#credentials = credentials;
    this.#now = now;
  }

  /**
   * The caller that an `Authorization` header identifies (RFC 6750, section 2.1).
   *
   * The signature of a token is verified once. Its expiry, the revocations and the account of its
   * subject are checked every time.
   *
   * @throws CatalogError `unauthorized`; `key_file`, `access_file` if a file is not valid.
   */
  verify(header: string | undefined): Verified | Promise<Verified> {
    if (header === undefined) throw unauthorized('send a token: Authorization: Bearer <jwt>');
    const { keys, access } = this.#credentials.current();
    if (keys !== this.#keys) this.#forget(keys);
    if (this.#latest?.header !== header) {
      const verified = this.#verified.get(header);
      if (verified === undefined) return this.#verifyAnew(header, keys);
      this.#latest = { header, verified };
    }
    const known = this.#latest.verified;
    this.#requireCurrent(known, access);
    return known;
  }

  /**
   * Checks whether work that a token has begun may go on after its request. The token may expire or
   * be revoked by itself meanwhile: that is how a user logs out.
   *
   * @throws CatalogError `unauthorized` if all tokens of the subject were revoked since, or its
   *   account is disabled; `key_file`, `access_file`.
   */
  requireAccess(token: Verified): void {
    if (!hasAccess(token, this.#credentials.current().access)) {
      throw unauthorized('all tokens of the user were revoked');
    }
  }

  #forget(keys: SigningKeys): void {
    this.#verified.clear();
    this.#latest = null;
    this.#keys = keys;
  }

  async #verifyAnew(header: string, keys: SigningKeys): Promise<Verified> {
    const token = /^(?:Bearer|JWT) +([\w-]+\.[\w-]+\.[\w-]*)$/i.exec(header)?.[1];
    if (token === undefined) {
      throw invalidToken('the Authorization header must be: Bearer <jwt>');
    }
    if (token.indexOf('.') > MAX_HEADER_LENGTH) throw invalidToken('the token is not valid');
    // Unused bits of a last character must be 0 (RFC 4648, section 3.5): a token has only one form.
    if (!token.split('.').every(isCanonical)) throw invalidToken('the token is not valid');
    const verified = await this.#check(token, keys);
    // Keys or revocations may have changed in the meantime.
    const { keys: newest, access } = this.#credentials.current();
    if (newest !== keys) return this.verify(header);
    this.#requireCurrent(verified, access);
    // A header with extra spaces is not cached: each is another key, so one token could evict all
    // others.
    if (header.length <= token.length + 'Bearer '.length) this.#remember(header, verified);
    return verified;
  }

  #remember(header: string, verified: Cached): void {
    if (this.#verified.size >= MAX_CACHED_TOKENS) {
      for (const oldest of this.#verified.keys()) {
        this.#verified.delete(oldest);
        break;
      }
    }
    this.#verified.set(header, verified);
  }

  async #check(token: string, keys: SigningKeys): Promise<Cached> {
    const now = this.#now();
    let payload: JWTPayload;
    let key: SigningKey;
    try {
      key = keyFor(token, keys);
      ({ payload } = await jwtVerify(token, key.secret, {
        algorithms: [ALGORITHM],
        issuer: ISSUER,
        audience: AUDIENCE,
        requiredClaims: ['sub', 'role', 'iat', 'exp', 'jti'],
        clockTolerance: LEEWAY_S,
        currentDate: new Date(now),
      }));
    } catch (cause) {
      const expired = cause instanceof Error && 'code' in cause && cause.code === 'ERR_JWT_EXPIRED';
      throw invalidToken(expired ? EXPIRED : 'the token is not valid', cause);
    }
    const { sub, jti, exp, iat, nbf = 0 } = payload;
    const { role, auth_time: loggedIn = null } = payload;
    if (!isRole(role)) throw invalidToken("the token's role is unknown");
    if (!isNumericDate(exp) || !isNumericDate(iat) || !isNumericDate(nbf)) {
      throw invalidToken("the token's iat, exp or nbf is not a date");
    }
    if (loggedIn !== null && !isNumericDate(loggedIn)) {
      throw invalidToken("the token's auth_time is not a date");
    }
    if (iat > now / 1000 + LEEWAY_S) throw invalidToken('the token is not valid');
    if (!isName(sub)) throw invalidToken("the token's sub is not valid");
    if (!isName(jti) || jti.length > MAX_ID_LENGTH) {
      throw invalidToken("the token's jti is not valid");
    }
    const { until: keyUntil = Number.POSITIVE_INFINITY } = key;
    return { subject: sub, role, id: jti, issued: iat, expires: exp, loggedIn, keyUntil };
  }

  /** Checks whatever may change after a token is signed. @throws CatalogError `unauthorized`. */
  #requireCurrent(token: Cached, access: Access): void {
    const now = this.#now() / 1000;
    if (token.expires + LEEWAY_S <= now) throw invalidToken(EXPIRED);
    if (token.keyUntil <= now)
      throw invalidToken('the token was signed with a key that is no longer valid; get a new one');
    if (isRevoked(token, access)) throw invalidToken('the token was revoked; get a new one');
  }
}

/** Whether a token or all tokens of its subject were revoked, or its account is disabled. */
export function isRevoked(token: Verified, access: Access): boolean {
  return access.tokens.has(token.id) || !hasAccess(token, access);
}

/** Whether the subject of a token may act since the token was issued. */
function hasAccess({ subject, issued }: Verified, { users, subjects }: Access): boolean {
  if (users.get(subject)?.disabled === true) return false;
  const revokedUntil = subjects.get(subject);
  // The `iat` of a token that another program signed may have a fraction.
  return revokedUntil === undefined || Math.floor(issued) > revokedUntil;
}

const EXPIRED = 'the token has expired; get a new one';

/** UTF-8 cannot encode an unpaired surrogate: the audit trail could not be read again. */
function isName(claim: unknown): claim is string {
  return typeof claim === 'string' && claim !== '' && claim.isWellFormed();
}

/** Whether a text is the base64url encoding of the bytes that it decodes to. */
function isCanonical(text: string): boolean {
  return Buffer.from(text, 'base64url').toString('base64url') === text;
}

/** The key that a token names; the first key if it has no `kid`. */
function keyFor(token: string, keys: SigningKeys): SigningKey {
  const { kid } = decodeProtectedHeader(token);
  const key = kid === undefined ? keys[0] : keys.find((each) => each.kid === kid);
  if (key === undefined) throw new Error('no key has the kid of the token');
  return key;
}

/** RFC 6750, section 3.1: another token is needed. */
export function invalidToken(message: string, cause?: unknown): CatalogError {
  return unauthorized(message, ', error="invalid_token"', cause);
}

/** RFC 6750, section 3: without a token the challenge names no error. */
export function unauthorized(message: string, error = '', cause?: unknown): CatalogError {
  return new CatalogError('unauthorized', message, {
    cause,
    headers: { 'WWW-Authenticate': `Bearer realm="${AUDIENCE}"${error}` },
  });
}
