/**
 * Client of etcd's JSON gateway (etcd.io/docs/v3.4/dev-guide/api_grpc_gateway): one POST a call.
 *
 * Every call is bounded in time and in bytes. Before the first call all nodes are asked at once,
 * and the one that answers first is used, because a host has to start while a node is down. After a
 * failed call the next call uses the next node, and the watches at the old one end: a node that is
 * frozen keeps them open and sends nothing. A call that every node would refuse changes neither.
 * Whether a failed call took effect is not known.
 */
import { withTimeout } from '../../delay.ts';
import { CatalogError, messageOf } from '../../errors.ts';
import { bounded, wholeOf } from '../../streams.ts';
import { fetchDirectly } from '../direct-fetch.ts';
import { linesOf } from '../following/lines.ts';
import type { Certificates, EtcdAddress } from './address.ts';

export interface EtcdLogin {
  readonly name: string;
  readonly password: string;
}

export interface EtcdOptions extends EtcdAddress {
  readonly certificates?: Certificates | undefined;
  readonly login?: EtcdLogin | null | undefined;
  /** Milliseconds for one call; {@link CALL_TIMEOUT_MS} if left out. */
  readonly timeoutMs?: number;
}

/** Milliseconds. A node does not answer for about one second while a leader is elected. */
const CALL_TIMEOUT_MS = 3000;

/** Bytes of the longest response; in a stream, of the longest line. */
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;

/** Characters of a refusal that an error quotes. */
const MAX_REASON_LENGTH = 200;

/** gRPC's `UNAUTHENTICATED`: the token of the login has expired. */
const UNAUTHENTICATED = 16;

/**
 * A token in the form of a JWT counts until an account or a role of etcd is changed. The gRPC code of
 * this refusal is that of any invalid argument.
 */
const OLD_TOKEN = /revision of auth store is old/;

/** What all nodes refuse alike: they share their roles and the alarm about the quota. */
const REFUSED_BY_ALL = /permission denied|database space exceeded/;

/** What the only node refuses each time. Of several nodes, each has its own limit for the size. */
const REFUSED_BY_ONLY = /permission denied|database space exceeded|is too large|larger than max/;

/** gRPC's `DEADLINE_EXCEEDED` and `UNAVAILABLE`: the node has no majority. */
const WITHOUT_MAJORITY: ReadonlySet<number> = new Set([4, 14]);

/** A key to ask for; it need not exist. */
const ANY_KEY = { key: 'AA==' };

/** Messages of etcd, and what the operator can do about each. */
const ADVICE: readonly (readonly [RegExp, string])[] = [
  [
    /database space exceeded/,
    "etcd's quota is used up; compact and defragment it, raise --quota-backend-bytes, then run: etcdctl alarm disarm",
  ],
  [
    /request is too large|larger than max/,
    'etcd refuses the size of the request; give etcd a --max-request-bytes of at least 1572864',
  ],
  [
    /permission denied/,
    'the role of the etcd user does not allow reading and writing the keys of this prefix',
  ],
  [
    /CommonName of client/,
    "etcd's gateway accepts no user from a client whose certificate has a common name; give --log-cert a certificate without one",
  ],
  [/authentication failed|user name is empty/, 'etcd does not accept the user and password'],
  [
    /authentication is not enabled/,
    'etcd has no users; run etcdctl auth enable, or leave out --log-user and --log-password-file',
  ],
];

export class EtcdClient {
  readonly prefix: string;
  readonly #options: EtcdOptions;
  readonly #timeoutMs: number;
  #node = 0;
  /** The search for a node that answers; null before the first call. */
  #found: Promise<void> | null = null;
  #token: string | null = null;
  /** Ends each open watch. All of them are at the node that the calls use. */
  readonly #watches = new Set<AbortController>();

  constructor(options: EtcdOptions) {
    this.#options = options;
    this.#timeoutMs = options.timeoutMs ?? CALL_TIMEOUT_MS;
    this.prefix = options.prefix;
  }

  /**
   * Makes one call.
   *
   * @param path such as `kv/txn`.
   * @returns the parsed response.
   * @throws CatalogError `log_unavailable`.
   */
  async call(path: string, body: object): Promise<unknown> {
    await (this.#found ??= this.#findNode());
    const node = this.#node;
    try {
      return await this.#authorized(path, body);
    } catch (error) {
      const refused = this.#options.endpoints.length === 1 ? REFUSED_BY_ONLY : REFUSED_BY_ALL;
      if (!(error instanceof EtcdFailure && refused.test(error.message))) this.#leave(node);
      throw unreachable(error);
    }
  }

  /** Goes on to the next node, unless another call has done so already. */
  #leave(node: number): void {
    if (this.#node !== node) return;
    this.#node = (node + 1) % this.#options.endpoints.length;
    for (const watch of this.#watches) watch.abort();
  }

  /**
   * Opens a watch. It ends when the calls leave its node.
   *
   * @param signal ends it.
   * @returns the responses, each a line of JSON.
   * @throws CatalogError `log_unavailable`, also in the middle of the watch.
   */
  async *watch(request: object, signal: AbortSignal): AsyncGenerator {
    await (this.#found ??= this.#findNode());
    const node = this.#node;
    const ending = new AbortController();
    const end = () => ending.abort();
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
    this.#watches.add(ending);
    try {
      const asked = this.#fetch('watch', request, ending.signal);
      const response = await answered(asked, this.#timeoutMs);
      if (response.body === null) return;
      for await (const line of linesOf(response.body, MAX_RESPONSE_BYTES)) {
        if (line.length > 1) yield parsed(line.toString());
      }
    } catch (error) {
      if (!ending.signal.aborted) this.#leave(node);
      throw unreachable(error);
    } finally {
      this.#watches.delete(ending);
      signal.removeEventListener('abort', end);
      // Otherwise a node that is frozen would keep a connection of each attempt.
      end();
    }
  }

  /** Chooses the node that answers first. If none answers, the call itself fails and says why. */
  async #findNode(): Promise<void> {
    const nodes = [...this.#options.endpoints.keys()];
    if (nodes.length === 1) return;
    const asked = nodes.map(async (node) => {
      await this.#bounded((signal) => this.#requireMajority(node, signal));
      return node;
    });
    this.#node = await Promise.any(asked).catch(() => this.#node);
  }

  /** A node that refuses the client passes. @throws if it has no majority or does not answer. */
  async #requireMajority(node: number, signal: AbortSignal): Promise<void> {
    const response = await this.#fetch('kv/range', ANY_KEY, signal, node);
    const text = await textOf(response);
    if (response.ok) return;
    const failure = failureOf(text);
    if (WITHOUT_MAJORITY.has(failure.code)) throw failure;
  }

  async #authorized(path: string, body: object): Promise<unknown> {
    if (this.#options.login && this.#token === null) await this.#authenticate(this.#options.login);
    try {
      return await this.#once(path, body);
    } catch (error) {
      const { login } = this.#options;
      if (!login || !(error instanceof EtcdFailure) || !error.endsLogin) throw error;
      await this.#authenticate(login);
      return await this.#once(path, body);
    }
  }

  async #authenticate({ name, password }: EtcdLogin): Promise<void> {
    this.#token = null;
    const response = await this.#once('auth/authenticate', { name, password });
    const { token } = Object(response) as { token?: unknown };
    if (typeof token !== 'string') throw notEtcd();
    this.#token = token;
  }

  #once(path: string, body: object): Promise<unknown> {
    return this.#bounded((signal) => this.#post(path, body, signal));
  }

  async #bounded<T>(call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const aborter = new AbortController();
    try {
      // Bun's fetch may outlive the signal, so the call is also raced with a timer.
      return await answered(call(aborter.signal), this.#timeoutMs);
    } finally {
      aborter.abort();
    }
  }

  async #post(path: string, body: object, signal: AbortSignal): Promise<unknown> {
    const response = await this.#fetch(path, body, signal);
    const text = await textOf(response);
    if (response.ok) return parsed(text);
    throw failureOf(text);
  }

  #fetch(path: string, body: object, signal: AbortSignal, node = this.#node): Promise<Response> {
    const { endpoints, certificates = {} } = this.#options;
    const { ca, cert, key } = certificates;
    return fetchDirectly(`${endpoints[node]}/v3/${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: this.#token === null ? {} : { Authorization: this.#token },
      signal,
      redirect: 'error',
      tls: {
        ...(ca !== undefined && { ca }),
        ...(cert !== undefined && { cert }),
        ...(key !== undefined && { key }),
      },
    });
  }
}

/** @throws Error if the unpacked body has more than {@link MAX_RESPONSE_BYTES}. */
async function textOf({ body }: Response): Promise<string> {
  if (body === null) return '';
  const bytes = await wholeOf(
    bounded(body, MAX_RESPONSE_BYTES, () => new Error('the answer is too long')),
  );
  return bytes.toString();
}

/** An error in a response of etcd. */
class EtcdFailure extends Error {
  /** The status code of gRPC; 0 if the response has none. */
  readonly code: number;

  constructor(message: string, code: number) {
    super(message.slice(0, MAX_REASON_LENGTH));
    this.code = code;
  }

  /** Whether the token is refused, and another login gives a new one. */
  get endsLogin(): boolean {
    return this.code === UNAUTHENTICATED || OLD_TOKEN.test(this.message);
  }
}

/** Some refusals of etcd's gateway are not JSON. */
function failureOf(text: string): EtcdFailure {
  try {
    const { error, code } = JSON.parse(text) as { error?: unknown; code?: unknown };
    const message = typeof error === 'string' ? error : text;
    return new EtcdFailure(message, typeof code === 'number' ? code : 0);
  } catch {
    return new EtcdFailure(text, 0);
  }
}

/** @throws Error if it is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw notEtcd();
  }
}

function notEtcd(): Error {
  return new Error('the answer is not from etcd; check that the address is that of etcd');
}

function unreachable(cause: unknown): CatalogError {
  if (cause instanceof CatalogError) return cause;
  const what = messageOf(cause);
  const advice = ADVICE.find(([pattern]) => pattern.test(what))?.[1];
  const message = advice === undefined ? `etcd does not answer: ${what}` : `${advice} (${what})`;
  return new CatalogError('log_unavailable', message, { cause });
}

function answered<T>(call: Promise<T>, milliseconds: number): Promise<T> {
  return withTimeout(call, milliseconds, () => {
    throw new Error(`no answer in ${milliseconds} ms`);
  });
}
