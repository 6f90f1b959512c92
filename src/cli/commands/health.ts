/** `health`: asks a running server whether it is ready, for containers, scripts and monitors. */
import http from 'node:http';
import https from 'node:https';
import type { Context } from '../../app/context.ts';
import { withTimeout } from '../../delay.ts';
import { CatalogError, messageOf } from '../../errors.ts';

/** Bytes of a body that are read; what the server sends is far shorter. */
const MAX_BODY_BYTES = 4096;

/** Addresses that a server listens on, but that no client can name as a destination. */
const WILDCARDS: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** The settings of `serve` from which the address of its `/readyz` follows. */
export interface ServerAddress {
  readonly host: string;
  readonly port: number;
  /** "" or a path such as "/api". */
  readonly basePath: string;
  readonly metricsPort?: number | undefined;
  readonly metricsHost?: string | undefined;
}

export interface HealthOptions {
  readonly url: URL;
  /** Milliseconds for the request and its response. */
  readonly timeout: number;
}

/**
 * Prints `ready` if the server is.
 *
 * @throws CatalogError `not_ready`, also if there is no response.
 */
export async function health({ url, timeout }: HealthOptions, { print }: Context): Promise<void> {
  let response: HealthResponse;
  try {
    response = await get(url, timeout);
  } catch (cause) {
    throw new CatalogError('not_ready', `${url.href} does not answer: ${messageOf(cause)}`, {
      cause,
    });
  }
  if (response.status !== 200) throw notReady(url, response);
  print('ready');
}

/**
 * @param url address of a server, with its base path if it has one, or of one of its health paths.
 * @returns the address to ask: `/readyz` of the server, unless a health path was given.
 */
export function healthUrl(url: URL): URL {
  const asked = new URL(url);
  const path = url.pathname.replace(/\/$/, '');
  asked.pathname = /\/(?:healthz|readyz)$/.test(path) ? path : `${path}/readyz`;
  return asked;
}

/**
 * @returns where a server with these settings serves `/readyz`: on the port of the metrics, which
 *   answers also while it shuts down, or else on its own.
 * @throws CatalogError `usage` if the server chose its port itself, or its address is none.
 */
export function readinessUrl(address: ServerAddress): URL {
  const { host, port, basePath, metricsPort, metricsHost = host } = address;
  if (metricsPort !== undefined && metricsPort > 0) {
    const flag = address.metricsHost === undefined ? '--host' : '--metrics-host';
    return urlAt({ flag, host: metricsHost, port: metricsPort }, '/readyz');
  }
  if (port > 0) return urlAt({ flag: '--host', host, port }, `${basePath}/readyz`);
  throw new CatalogError(
    'usage',
    'with port 0 the server chooses its port; give its address with --url',
  );
}

interface Listener {
  /** The one that gave the host. */
  readonly flag: string;
  readonly host: string;
  readonly port: number;
}

/** @throws CatalogError `usage`. */
function urlAt({ flag, host, port }: Listener, path: string): URL {
  const name = WILDCARDS[host] ?? host;
  const authority = name.includes(':') ? `[${name}]:${port}` : `${name}:${port}`;
  const url = URL.parse(`http://${authority}${path}`);
  if (url !== null) return url;
  throw new CatalogError(
    'usage',
    `${flag} ${host} is not the address of a host; correct it, or give --url`,
  );
}

interface HealthResponse {
  readonly status: number;
  /** The beginning of the body. */
  readonly body: string;
}

/**
 * One request, without redirects, within bounds of time and bytes. node:http asks the server itself;
 * `fetch` would use the proxy that the environment names.
 *
 * @param timeout milliseconds for the request and its response.
 */
async function get(url: URL, timeout: number): Promise<HealthResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<HealthResponse>();
  const { get: request } = url.protocol === 'https:' ? https : http;
  const sent = request(url, { agent: false }, (response) => {
    let body = '';
    response.setEncoding('latin1');
    const end = () => resolve({ status: response.statusCode ?? 0, body });
    response.on('data', (piece: string) => {
      body += piece;
      if (body.length >= MAX_BODY_BYTES) end();
    });
    response.on('end', end).on('error', reject);
  });
  sent.on('error', reject);
  try {
    return await withTimeout(promise, timeout, () => {
      throw new Error(`no answer within ${timeout / 1000} s`);
    });
  } finally {
    sent.destroy();
  }
}

/** The reason is the server's own. A response of another program is not printed. */
function notReady(url: URL, { status, body }: HealthResponse): CatalogError {
  const reason = /"error":"(not ready: [\w ,.:;%()-]{1,200})"/.exec(body)?.[1];
  const advice = status === 404 ? '; give the address of the server with its base path' : '';
  return new CatalogError(
    'not_ready',
    `${url.href}: ${reason ?? `the response has status ${status}${advice}`}`,
  );
}
