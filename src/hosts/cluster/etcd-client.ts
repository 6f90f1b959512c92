/**
 * etcd by its JSON gateway (etcd.io/docs/v3.4/dev-guide/api_grpc_gateway): one POST for each call.
 *
 * Every call is bounded in time and in bytes. Before the first one all nodes are asked at once, and
 * it goes to the one that answers first: a host has to start while a node is down. A call that fails
 * lets the next one go to the next node. Whether a failed call took effect is not known.
 */
import { CatalogError, messageOf } from '../../errors.ts';

/** How etcd is reached. */
export interface EtcdAddress {
  /** `https://a:2379` for each node. */
  readonly endpoints: readonly string[];
  /** What every key begins with: `/shop/`. */
  readonly prefix: string;
}

/** PEM texts. */
export interface Certificates {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

export interface Login {
  readonly name: string;
  readonly password: string;
}

export interface EtcdOptions extends EtcdAddress {
  readonly certificates?: Certificates | undefined;
  readonly login?: Login | null | undefined;
  /** Milliseconds for one call; {@link CALL_TIMEOUT_MS} if left out. */
  readonly timeoutMs?: number;
}

/** Milliseconds. A node that elects a leader answers nobody for about one second. */
const CALL_TIMEOUT_MS = 3000;

/** Bytes of an answer that is read whole. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** Characters of a refusal that is not understood. */
const MAX_REASON_LENGTH = 200;

/** gRPC's `UNAUTHENTICATED`: the token of the login has expired. */
const UNAUTHENTICATED = 16;

/** gRPC's `DEADLINE_EXCEEDED` and `UNAVAILABLE`: the node has no majority. */
const WITHOUT_MAJORITY: ReadonlySet<number> = new Set([4, 14]);

/** A key that need not be there. */
const ANY_KEY = { key: 'AA==' };

/** What etcd says, and what an operator can do. */
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
    "etcd's role does not allow the keys of this prefix to be read and written",
  ],
  [
    /CommonName of client/,
    "etcd's gateway takes no users from clients whose certificate has a common name; make the certificate of --log-cert without one",
  ],
  [/authentication failed|user name is empty/, 'etcd does not accept the user and password'],
];

export class EtcdClient {
  readonly prefix: string;
  readonly #options: EtcdOptions;
  readonly #timeoutMs: number;
  #node = 0;
  /** The search for a node that answers; null before the first call. */
  #found: Promise<void> | null = null;
  #token: string | null = null;

  constructor(options: EtcdOptions) {
    this.#options = options;
    this.#timeoutMs = options.timeoutMs ?? CALL_TIMEOUT_MS;
    this.prefix = options.prefix;
  }

  /**
   * One call.
   *
   * @param path such as `kv/txn`.
   * @returns the parsed answer.
   * @throws CatalogError `log_unavailable`.
   */
  async call(path: string, body: object): Promise<unknown> {
    await (this.#found ??= this.#findNode());
    const node = this.#node;
    try {
      return await this.#authorized(path, body);
    } catch (error) {
      // Another call may have gone on to the next node already.
      if (this.#node === node) this.#node = (node + 1) % this.#options.endpoints.length;
      throw unreachable(error);
    }
  }

  /**
   * Opens a stream of answers, each a line of JSON.
   *
   * @param signal ends it.
   * @throws CatalogError `log_unavailable`, also in the middle.
   */
  async *stream(path: string, body: object, signal: AbortSignal): AsyncGenerator {
    await (this.#found ??= this.#findNode());
    try {
      const response = await raced(this.#fetch(path, body, signal), this.#timeoutMs);
      if (response.body === null) return;
      const decoder = new TextDecoder();
      let rest = '';
      for await (const chunk of response.body) {
        const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
        rest = lines.pop() ?? '';
        if (rest.length > MAX_ANSWER_BYTES) throw new Error('the answer is too long');
        for (const line of lines) if (line !== '') yield JSON.parse(line) as unknown;
      }
    } catch (error) {
      this.#node = (this.#node + 1) % this.#options.endpoints.length;
      throw unreachable(error);
    }
  }

  /** Begins with the node that answers first. If none does, the call itself tells why. */
  async #findNode(): Promise<void> {
    const nodes = [...this.#options.endpoints.keys()];
    if (nodes.length === 1) return;
    const asked = nodes.map(async (node) => {
      await this.#bounded((signal) => this.#requireMajority(node, signal));
      return node;
    });
    this.#node = await Promise.any(asked).catch(() => this.#node);
  }

  /** A node that refuses a client answers, too. @throws if it does not. */
  async #requireMajority(node: number, signal: AbortSignal): Promise<void> {
    const response = await this.#fetch('kv/range', ANY_KEY, signal, node);
    const text = await response.text();
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
      if (!login || !(error instanceof EtcdFailure) || error.code !== UNAUTHENTICATED) throw error;
      await this.#authenticate(login);
      return await this.#once(path, body);
    }
  }

  async #authenticate({ name, password }: Login): Promise<void> {
    this.#token = null;
    const answer = (await this.#once('auth/authenticate', { name, password })) as { token: string };
    this.#token = answer.token;
  }

  #once(path: string, body: object): Promise<unknown> {
    return this.#bounded((signal) => this.#exchange(path, body, signal));
  }

  async #bounded<T>(exchange: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const aborter = new AbortController();
    try {
      // Bun's fetch may outlive the signal, so that the race decides.
      return await raced(exchange(aborter.signal), this.#timeoutMs);
    } finally {
      aborter.abort();
    }
  }

  async #exchange(path: string, body: object, signal: AbortSignal): Promise<unknown> {
    const response = await this.#fetch(path, body, signal);
    const length = Number(response.headers.get('content-length') ?? 0);
    if (length > MAX_ANSWER_BYTES) throw new Error(`the answer has ${length} bytes`);
    const text = await response.text();
    if (response.ok) return JSON.parse(text) as unknown;
    throw failureOf(text);
  }

  #fetch(path: string, body: object, signal: AbortSignal, node = this.#node): Promise<Response> {
    const { endpoints, certificates = {} } = this.#options;
    const { ca, cert, key } = certificates;
    return fetch(`${endpoints[node]}/v3/${path}`, {
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

/** What etcd answered instead of a result. */
class EtcdFailure extends Error {
  /** Of gRPC. */
  readonly code: number;

  constructor(message: string, code: number) {
    super(message);
    this.code = code;
  }
}

/** Some refusals of etcd's gateway are not JSON. */
function failureOf(text: string): EtcdFailure {
  try {
    const { error = text, code = 0 } = JSON.parse(text) as { error?: string; code?: number };
    return new EtcdFailure(error, code);
  } catch {
    return new EtcdFailure(text.slice(0, MAX_REASON_LENGTH), 0);
  }
}

function unreachable(cause: unknown): CatalogError {
  if (cause instanceof CatalogError) return cause;
  const what = messageOf(cause);
  const advice = ADVICE.find(([pattern]) => pattern.test(what))?.[1];
  const message = advice === undefined ? what : `${advice} (${what})`;
  return new CatalogError('log_unavailable', `etcd does not answer: ${message}`, { cause });
}

async function raced<T>(call: Promise<T>, milliseconds: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer in ${milliseconds} ms`)), milliseconds);
  });
  try {
    return await Promise.race([call, late]);
  } finally {
    clearTimeout(timer);
  }
}
