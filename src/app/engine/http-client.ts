/**
 * How many requests Bun's HTTP client sends at a time. All requests of a process share the number:
 * forwarded ones, those to the primary and to etcd, the stream of change sets, webhooks. Others
 * wait in the client, without a timeout of their own. The client reads the number only from its
 * environment, and only when the process starts.
 */

const VARIABLE = 'BUN_CONFIG_MAX_HTTP_REQUESTS';

/** The number of a process without the variable. */
const BUN_DEFAULT = 256;

/** Requests that a host forwards at the same time, if its client can send twice as many. */
const MAX_FORWARDS = 500;

/** Requests that a process with the policy sends at a time, to all hosts together. */
export const MAX_HTTP_REQUESTS = 4096;

/** Must be in the environment of a process that forwards requests. */
export const HTTP_CLIENT_POLICY = { [VARIABLE]: String(MAX_HTTP_REQUESTS) };

/**
 * @param env of the start of this process. Its own requests to other hosts need a part of the
 *   number: without them, a follower would accept no token (spec 15.12).
 * @returns requests that it may forward at the same time.
 */
export function maxForwards(env: Readonly<Record<string, string | undefined>>): number {
  const number = Number(env[VARIABLE] ?? BUN_DEFAULT);
  // Bun ignores other values.
  const isValid = Number.isSafeInteger(number) && number >= 1 && number <= 65_535;
  return Math.min(MAX_FORWARDS, Math.ceil((isValid ? number : BUN_DEFAULT) / 2));
}
