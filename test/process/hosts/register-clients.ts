/**
 * Clients that read and write single rows through any host, and the history of what they saw. A
 * read requires the newest change set that any client has seen (spec 15.2), as with clients that
 * communicate.
 */
import { setTimeout as pause } from 'node:timers/promises';
import * as assert from 'uvu/assert';
import { send, tokenFor } from '../../support/client.ts';
import { randomFrom } from '../../support/random.ts';
import { type Operation, settled, violationIn } from '../../support/registers.ts';
import { sendOnce, type SingleResponse } from '../../support/single-request.ts';
import type { Host } from './cluster-ledger.ts';

const INITIAL = 'initial';

/** Delay after a request that failed, in milliseconds. */
const PAUSE_MS = 20;

interface Known {
  readonly value: string;
  readonly etag: string;
}

interface Register {
  /** The path of the brand whose name is the value. */
  readonly path: string;
  readonly history: Operation[];
}

export class Registers {
  /** Numbers of answered requests, and of writes with an unknown result. */
  answers = 0;
  unknown = 0;
  readonly #hosts: readonly Host[];
  readonly #registers: Register[] = [];
  readonly #random = randomFrom(1);
  /** The newest change set that a client has seen. */
  #newest = 0;
  #values = 0;
  #ended = false;

  constructor(hosts: readonly Host[]) {
    this.#hosts = hosts;
  }

  async create(count: number): Promise<void> {
    const body = { name: INITIAL, logo: '', first_letter: 'B' };
    for (let nth = 0; nth < count; nth += 1) {
      const { status, json } = await send(this.#host(), 'POST', '/admin/brands/', { body });
      assert.is(status, 201);
      this.#registers.push({ path: `/admin/brands/${json.id}/`, history: [] });
    }
  }

  end(): void {
    this.#ended = true;
  }

  /** Runs one client until `end`. */
  async work(): Promise<void> {
    const authorization = `Bearer ${await tokenFor('admin')}`;
    const known = new Map<Register, Known>();
    while (!this.#ended) {
      const register = this.#registers[this.#random(this.#registers.length)] as Register;
      const choice = this.#random(5);
      const before = known.get(register);
      if (choice < 2) {
        const seen = await this.#read(register, authorization);
        if (seen !== null) known.set(register, seen);
      } else {
        await this.#write(register, authorization, choice === 4 ? before : undefined);
      }
    }
  }

  /** @throws AssertionError if the operations on a row are not linearizable. */
  judge(): void {
    for (const { path, history } of this.#registers) {
      const violation = violationIn(settled(history), INITIAL);
      assert.is(violation, null, `${path}: ${JSON.stringify(violation)}`);
    }
  }

  #host(): Host {
    return this.#hosts[this.#random(this.#hosts.length)] as Host;
  }

  /** @returns null if there was no response, or a 503. */
  async #ask(register: Register, request: Record<string, string>): Promise<SingleResponse | null> {
    const url = this.#host().url + register.path;
    const answer = await sendOnce(url, request).catch(() => null);
    if (answer === null || answer.status === 503) {
      await pause(PAUSE_MS);
      return null;
    }
    this.answers += 1;
    this.#newest = Math.max(this.#newest, answer.sequence);
    return answer;
  }

  async #read(register: Register, authorization: string): Promise<Known | null> {
    const called = performance.now();
    const newest = `${this.#newest}`;
    const request = { method: 'GET', authorization, 'catalog-min-sequence': newest };
    const answer = await this.#ask(register, request);
    if (answer === null) return null;
    assert.is(answer.status, 200, answer.text);
    const { name } = JSON.parse(answer.text) as { readonly name: string };
    const does = { type: 'read', saw: name } as const;
    register.history.push({ called, ended: performance.now(), does, isCutOff: false });
    return { value: name, etag: answer.etag };
  }

  /** @param before the value to replace; if omitted, any value is replaced. */
  async #write(register: Register, authorization: string, before?: Known): Promise<void> {
    this.#values += 1;
    const wrote = `value ${this.#values}`;
    const called = performance.now();
    const answer = await this.#ask(register, {
      method: 'PUT',
      authorization,
      'content-type': 'application/json',
      body: JSON.stringify({ name: wrote, logo: '', first_letter: 'B' }),
      ...(before !== undefined && { 'if-match': before.etag }),
    });
    const ended = performance.now();
    if (answer === null) this.unknown += 1;
    else assert.ok([200, 412].includes(answer.status), answer.text);
    const does: Operation['does'] =
      before === undefined
        ? { type: 'write', wrote }
        : { type: 'exchange', expected: before.value, wrote, succeeded: answer?.status !== 412 };
    register.history.push({ called, ended, does, isCutOff: answer === null });
  }
}
