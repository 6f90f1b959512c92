/** One node of etcd in memory: keys, transactions and leases, and calls that fail when told to. */
import { CatalogError } from '../../src/errors.ts';
import { EtcdClient } from '../../src/hosts/cluster/etcd-client.ts';

interface Key {
  readonly value: string;
  readonly revision: number;
  readonly lease: string | undefined;
}

interface Compare {
  readonly key: string;
  readonly target: 'VALUE' | 'MOD';
  readonly value?: string;
  readonly mod_revision?: string;
}

interface Range {
  readonly key: string;
  readonly range_end?: string;
  readonly limit?: number;
}

interface Step {
  readonly request_put?: { readonly key: string; readonly value: string; readonly lease?: string };
  readonly request_range?: Range;
  readonly request_delete_range?: Range;
}

interface Transaction {
  readonly compare: readonly Compare[];
  readonly success: readonly Step[];
  readonly failure: readonly Step[];
}

const text = (base64: string): string => Buffer.from(base64, 'base64').toString();
const base64 = (plain: string): string => Buffer.from(plain).toString('base64');

export class MemoryEtcd extends EtcdClient {
  /** By their whole names. */
  readonly #keys = new Map<string, Key>();
  readonly #leases = new Set<string>();
  #revision = 0;
  /** Transactions that put something. */
  writes = 0;
  isSilent = false;

  constructor() {
    super({ endpoints: ['http://nowhere'], prefix: '/shop/' });
  }

  /** The values by the names of their keys. */
  get values(): Readonly<Record<string, string>> {
    const entries = [...this.#keys].map(([key, { value }]) => [
      key.slice(this.prefix.length),
      value,
    ]);
    return Object.fromEntries(entries) as Record<string, string>;
  }

  /** Ends every lease, with its keys. */
  endLeases(): void {
    for (const lease of this.#leases) this.#revoke(lease);
  }

  override async call(path: string, body: object): Promise<unknown> {
    await new Promise(setImmediate);
    if (this.isSilent) throw new CatalogError('log_unavailable', 'etcd does not answer');
    switch (path) {
      case 'kv/txn':
        return this.#transact(body as Transaction);
      case 'lease/grant':
        this.#leases.add(String((this.#revision += 1)));
        return { ID: String(this.#revision) };
      case 'lease/keepalive': {
        const isThere = this.#leases.has((body as { ID: string }).ID);
        return { result: isThere ? { TTL: '15' } : {} };
      }
      case 'lease/revoke':
        this.#revoke((body as { ID: string }).ID);
        return {};
      default:
        throw new Error(`${path} is not there`);
    }
  }

  #revoke(lease: string): void {
    this.#leases.delete(lease);
    for (const [key, there] of this.#keys) if (there.lease === lease) this.#keys.delete(key);
  }

  #transact({ compare, success, failure }: Transaction): object {
    const succeeded = compare.every((each) => this.#holds(each));
    const steps = succeeded ? success : failure;
    if (steps.some((step) => step.request_put !== undefined)) this.writes += 1;
    this.#revision += 1;
    return { succeeded, responses: steps.map((step) => this.#run(step)) };
  }

  #holds({ key, target, value, mod_revision: revision }: Compare): boolean {
    const there = this.#keys.get(text(key));
    if (target === 'MOD') return String(there?.revision ?? 0) === revision;
    return there?.value === text(value ?? '');
  }

  #run({ request_put: put, request_range: range, request_delete_range: remove }: Step): object {
    if (put !== undefined) {
      const { lease } = put;
      this.#keys.set(text(put.key), { value: text(put.value), revision: this.#revision, lease });
      return {};
    }
    if (remove !== undefined) {
      for (const key of this.#in(remove)) this.#keys.delete(key);
      return {};
    }
    const found = this.#in(range as Range).map((key) => {
      const { value, revision } = this.#keys.get(key) as Key;
      return { key: base64(key), value: base64(value), mod_revision: String(revision) };
    });
    return { response_range: { kvs: found } };
  }

  #in({ key, range_end: end, limit = Number.POSITIVE_INFINITY }: Range): string[] {
    const first = text(key);
    if (end === undefined) return this.#keys.has(first) ? [first] : [];
    const last = text(end);
    const names = [...this.#keys.keys()].filter((name) => name >= first && name < last);
    return names.toSorted().slice(0, limit);
  }
}
