/**
 * Requests to other hosts and to etcd. They carry tokens, accounts and keys, so they are not sent
 * to the proxy that `HTTP_PROXY`, `HTTPS_PROXY` or `ALL_PROXY` names, and certificates are verified
 * even if `NODE_TLS_REJECT_UNAUTHORIZED` is 0. Every request of this layer is made here.
 */

/**
 * Sends a request without a proxy. A redirect is returned, not followed.
 *
 * @param init as for `fetch`, and takes precedence for redirects.
 * @throws what `fetch` throws.
 */
export function fetchDirectly(url: string | URL, init: BunFetchRequestInit): Promise<Response> {
  return fetch(url, {
    redirect: 'manual',
    ...init,
    proxy: false,
    tls: { ...init.tls, rejectUnauthorized: true },
  });
}
