/**
 * A proxy before another host that refuses the requests of this one (403), such as one that lets
 * only the networks of the staff reach `/admin/`, or that gets no answer from that host.
 */
import { CatalogError } from '../errors.ts';
import { CATALOG_SEQUENCE } from '../http/rules/catalog-sequence.ts';

/** Whether a response is a 403 that no catalog-server made (spec 15.1). */
export function isProxyRefusal({ status, headers }: Pick<Response, 'status' | 'headers'>): boolean {
  return status === 403 && !headers.has(CATALOG_SEQUENCE);
}

/** Statuses of a proxy that gets no answer; no catalog-server sends them. */
const WITHOUT_ANSWER: ReadonlySet<number> = new Set([502, 504]);

/** Whether a proxy made a response because the host behind it did not answer. */
export function isWithoutAnswer({ status }: Pick<Response, 'status'>): boolean {
  return WITHOUT_ANSWER.has(status);
}

/** @param origin of the other host. @returns a message for the operator. */
export function proxyRefusal(origin: string): string {
  return `a proxy before ${origin} refuses the requests of this host (403): add the address of this host to the networks that the proxy allows`;
}

/** Keeps the refusals of proxies from clients, who can do nothing about them. */
export class ProxyRefusals {
  readonly #warn: (message: string) => void;
  /** The other host, if its proxy refused the last request. */
  #origin: string | null = null;

  /** @param warn called for the first of several refusals. */
  constructor(warn: (message: string) => void) {
    this.#warn = warn;
  }

  /** @throws CatalogError `primary_unreachable`: a proxy made the response. */
  check(response: Response, origin: string, to: string): void {
    if (!isProxyRefusal(response)) {
      this.#origin = null;
      return;
    }
    if (this.#origin !== origin) this.#warn(proxyRefusal(origin));
    this.#origin = origin;
    throw new CatalogError(
      'primary_unreachable',
      `a proxy before ${to} refuses the requests of this host; nothing was changed`,
    );
  }
}
