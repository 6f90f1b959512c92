/** Failed logins, counted for each account name and each address, whether or not they exist. */
import { LRUCache } from 'lru-cache';
import { CatalogError } from '../errors.ts';
import { networkOf } from '../network.ts';

/** The failures that one window allows. A window begins with the first failure. */
export interface AttemptLimits {
  readonly account: number;
  readonly address: number;
  /** Milliseconds. */
  readonly window: number;
}

const LIMITS: AttemptLimits = { account: 10, address: 100, window: 300_000 };

/** Most names, and most addresses, that are counted. Each costs the client a password hash. */
const MAX_KEYS = 50_000;

interface AttemptsOptions {
  readonly limits?: AttemptLimits | undefined;
  /** Milliseconds on a monotonic clock. */
  readonly clock?: { now(): number } | undefined;
}

export class FailedAttempts {
  readonly #limits: AttemptLimits;
  readonly #accounts: LRUCache<string, number>;
  readonly #addresses: LRUCache<string, number>;

  constructor({ limits = LIMITS, clock = performance }: AttemptsOptions = {}) {
    const options = {
      // Not `max`, with which the cache would allocate all of its memory at once.
      maxSize: MAX_KEYS,
      sizeCalculation: () => 1,
      ttl: limits.window,
      noUpdateTTL: true,
      ttlResolution: 0,
      perf: clock,
    };
    this.#limits = limits;
    this.#accounts = new LRUCache(options);
    this.#addresses = new LRUCache(options);
  }

  /** @throws CatalogError `login_throttled`, with `Retry-After` in seconds. */
  requireAllowed(account: string, address: string): void {
    const network = networkOf(address);
    const left = Math.max(
      remaining(this.#accounts, account, this.#limits.account),
      remaining(this.#addresses, network, this.#limits.address),
    );
    if (left > 0) throw throttled(Math.ceil(left / 1000));
  }

  failed(account: string, address: string): void {
    count(this.#accounts, account);
    count(this.#addresses, networkOf(address));
  }

  /** Resets the account, but not the address, from which other accounts could then be tried. */
  succeeded(account: string): void {
    this.#accounts.delete(account);
  }
}

/** @param seconds after which to try again. */
export function throttled(seconds: number): CatalogError {
  const unit = seconds === 1 ? 'second' : 'seconds';
  return new CatalogError(
    'login_throttled',
    `too many login attempts; try again in ${seconds} ${unit}`,
    { headers: { 'Retry-After': String(seconds) } },
  );
}

/** Milliseconds until a name or an address may try again; 0 if it may now. */
function remaining(failures: LRUCache<string, number>, key: string, limit: number): number {
  return (failures.get(key) ?? 0) >= limit ? failures.getRemainingTTL(key) : 0;
}

function count(failures: LRUCache<string, number>, key: string): void {
  failures.set(key, (failures.get(key) ?? 0) + 1);
}
