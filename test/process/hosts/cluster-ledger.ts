/**
 * Hosts over one log, and writers that record the answered writes while hosts and etcd nodes are
 * killed and paused.
 */
import { setTimeout as pause } from 'node:timers/promises';
import * as assert from 'uvu/assert';
import { send } from '../../support/client.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import type { Etcd } from '../../support/etcd.ts';
import { freePorts } from '../../support/ports.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';

/** Why a response may differ from the API description. */
const KILLED = 'the server is killed or paused meanwhile';

/** A host that can be restarted in the same directory at the same address. */
export class Host {
  readonly data = temporaryDirectory();
  readonly #args: readonly string[];
  #server: TestServer | null = null;
  readonly url: string;

  constructor(etcd: Etcd, port: number) {
    this.url = `http://127.0.0.1:${port}`;
    this.#args = [
      ['--port', `${port}`, '--log', etcd.url('shop'), '--advertise', this.url],
      ['--log-timeout', '3s', '--log-level', 'error'],
    ].flat();
  }

  async start(): Promise<void> {
    this.#server = await startServer({ data: this.data, args: this.#args });
  }

  async kill(): Promise<void> {
    await this.#server?.kill();
  }

  async stop(): Promise<void> {
    await this.#server?.stop();
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#server?.child.kill(signal);
  }

  async ready(): Promise<void> {
    await until(`${this.url} is ready`, async () => {
      const answer = await fetch(`${this.url}/readyz`).catch(() => null);
      return answer?.status === 200;
    });
  }
}

/** Starts hosts over the nodes, and waits until all are ready. */
export async function startHosts(etcd: Etcd, count = 3): Promise<Host[]> {
  const hosts = (await freePorts(count)).map((port) => new Host(etcd, port));
  await Promise.all(hosts.map((host) => host.start()));
  await Promise.all(hosts.map((host) => host.ready()));
  return hosts;
}

/** Records the answered writes. */
export class Ledger {
  /** The id of each book that was created, by its name. */
  readonly created = new Map<string, number>();
  /** Number of repeated attempts. */
  repeated = 0;
  readonly #hosts: readonly Host[];
  #ended = false;

  constructor(hosts: readonly Host[]) {
    this.#hosts = hosts;
  }

  end(): void {
    this.#ended = true;
  }

  /** Creates books one after another, each with its own idempotency key, on any host. */
  async write(writer: number): Promise<void> {
    for (let nth = 0; !this.#ended; nth += 1) {
      const name = `book-${writer}-${nth}`;
      const id = await this.#create(name, writer + nth);
      if (id !== null) this.created.set(name, id);
    }
  }

  /** Repeats a creation on the other hosts until it is answered. @returns null after `end`. */
  async #create(name: string, first: number): Promise<number | null> {
    for (let attempt = 0; attempt === 0 || !this.#ended; attempt += 1) {
      const host = this.#hosts[(first + attempt) % this.#hosts.length] as Host;
      const answer = await send(host, 'POST', '/books/', {
        headers: { 'Idempotency-Key': name },
        body: { name, pub_date: '2024-02-29' },
        undescribed: KILLED,
      }).catch(() => null);
      if (answer?.status === 201) return answer.json.id as number;
      if (answer !== null) assert.is(answer.status, 503, answer.text);
      this.repeated += 1;
      await pause(20);
    }
    return null;
  }
}
