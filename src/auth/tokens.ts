/** JSON Web Tokens (RFC 7519) under the rules of RFC 8725: one algorithm, every claim required. */
import { randomUUID } from 'node:crypto';
import { decodeProtectedHeader, type JWTPayload, jwtVerify, SignJWT } from 'jose';
import { CatalogError } from '../errors.ts';
import type { SigningKey, SigningKeys } from './keys.ts';
import { isRole, type Role } from './roles.ts';

const ALGORITHM = 'HS256';
const ISSUER = 'catalog-server';
const AUDIENCE = 'catalog-admin';

/** Clocks of two hosts may differ by this much, in seconds. */
const LEEWAY = 2;

/** Verified tokens that are remembered; the oldest make room. */
const REMEMBERED = 10_000;

export interface Caller {
  readonly subject: string;
  readonly role: Role;
}

interface Verified extends Caller {
  /** Seconds since the epoch. */
  readonly expires: number;
}

/**
 * @param lifetime in seconds.
 * @returns a compact JWT.
 */
export function issueToken(
  keys: SigningKeys,
  { subject, role }: Caller,
  lifetime: number,
): Promise<string> {
  const [{ kid, secret }] = keys;
  const now = Math.floor(Date.now() / 1000);
  return new SignJWT({ role })
    .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT', kid })
    .setSubject(subject)
    .setIssuer(ISSUER)
    .setAudience(AUDIENCE)
    .setJti(randomUUID())
    .setIssuedAt(now)
    .setExpirationTime(now + lifetime)
    .sign(secret);
}

export class TokenVerifier {
  readonly #keys: SigningKeys;
  readonly #now: () => number;
  readonly #verified = new Map<string, Verified>();
  /** The header looked up last: comparing it again is cheaper than hashing it again. */
  #latest: { readonly header: string; readonly verified: Verified } | null = null;

  /** @param now milliseconds since the epoch. */
  constructor(keys: SigningKeys, now: () => number = Date.now) {
    this.#keys = keys;
    this.#now = now;
  }

  /**
   * The caller behind an `Authorization` header (RFC 6750, section 2.1).
   *
   * A token that was verified before is answered at once; its expiry is judged every time.
   *
   * @throws CatalogError `unauthorized`.
   */
  verify(header: string | undefined): Caller | Promise<Caller> {
    if (header === undefined) throw unauthorized('send a token: Authorization: Bearer <jwt>', '');
    if (this.#latest?.header !== header) {
      const verified = this.#verified.get(header);
      if (verified === undefined) return this.#verifyAnew(header);
      this.#latest = { header, verified };
    }
    const known = this.#latest.verified;
    if (known.expires + LEEWAY > this.#now() / 1000) return known;
    this.#verified.delete(header);
    this.#latest = null;
    throw invalidToken('the token has expired; get a new one');
  }

  async #verifyAnew(header: string): Promise<Caller> {
    const token = /^(?:Bearer|JWT) +([\w-]+\.[\w-]+\.[\w-]*)$/i.exec(header)?.[1];
    if (token === undefined) {
      throw invalidToken('the Authorization header must be: Bearer <jwt>');
    }
    const verified = await this.#check(token);
    if (this.#verified.size >= REMEMBERED) {
      const [oldest] = this.#verified.keys();
      this.#verified.delete(oldest as string);
    }
    this.#verified.set(header, verified);
    return verified;
  }

  async #check(token: string): Promise<Verified> {
    const now = this.#now();
    let payload: JWTPayload;
    try {
      const { secret } = this.#keyFor(token);
      ({ payload } = await jwtVerify(token, secret, {
        algorithms: [ALGORITHM],
        issuer: ISSUER,
        audience: AUDIENCE,
        requiredClaims: ['sub', 'role', 'iat', 'exp', 'jti'],
        clockTolerance: LEEWAY,
        currentDate: new Date(now),
      }));
    } catch (cause) {
      const expired = cause instanceof Error && 'code' in cause && cause.code === 'ERR_JWT_EXPIRED';
      throw invalidToken(
        expired ? 'the token has expired; get a new one' : 'the token is not valid',
        cause,
      );
    }
    const { sub, exp = 0, iat = 0 } = payload;
    const role = payload['role'];
    if (!isRole(role)) throw invalidToken("the token's role is unknown");
    if (typeof sub !== 'string' || sub === '' || iat > now / 1000 + LEEWAY) {
      throw invalidToken('the token is not valid');
    }
    return { subject: sub, role, expires: exp };
  }

  #keyFor(token: string): SigningKey {
    const { kid } = decodeProtectedHeader(token);
    const key = kid === undefined ? this.#keys[0] : this.#keys.find((each) => each.kid === kid);
    if (key === undefined) throw new Error('no key has the kid of the token');
    return key;
  }
}

function invalidToken(message: string, cause?: unknown): CatalogError {
  return unauthorized(message, ', error="invalid_token"', cause);
}

/** RFC 6750, section 3: without a token the challenge names no error. */
function unauthorized(message: string, error: string, cause?: unknown): CatalogError {
  return new CatalogError('unauthorized', message, {
    cause,
    headers: { 'WWW-Authenticate': `Bearer realm="${AUDIENCE}"${error}` },
  });
}
