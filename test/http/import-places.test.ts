/** How many files arrive, and how many imports wait, at a time (spec 12.6). */
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { decodeReply, encodeOrder } from '../../src/app/imports/import-request.ts';
import { type Received, send, streamOf, tokenFor } from '../support/client.ts';
import { importInto, postImport } from '../support/imports.ts';
import { closeServices, openService, type Service } from '../support/service.ts';
import { until } from '../support/until.ts';

test.after(closeServices);

/** Uploads that send nothing more until the test ends them. */
class SlowUploads {
  readonly #server: Service;
  #end: () => void = () => {};
  readonly #ended = new Promise<void>((resolve) => (this.#end = resolve));
  readonly #answers: Promise<Received>[] = [];

  constructor(server: Service) {
    this.#server = server;
  }

  async begin(token: string): Promise<void> {
    let hasBegun = false;
    const ended = this.#ended;
    async function* pieces(): AsyncGenerator<Uint8Array> {
      hasBegun = true;
      yield Buffer.from('name\n');
      await ended;
    }
    const answer = send(this.#server, 'POST', '/admin/brands/imports/', {
      body: streamOf(pieces()),
      headers: { 'content-type': 'text/csv' },
      token,
    });
    this.#answers.push(answer);
    await until('the upload has begun', () => hasBegun);
  }

  async end(): Promise<number[]> {
    this.#end();
    return (await Promise.all(this.#answers)).map(({ status }) => status);
  }
}

async function requireRefused(answer: Promise<Received>, message: RegExp): Promise<void> {
  const { status, json, headers } = await answer;
  assert.is(status, 429);
  assert.match(json.error, message);
  assert.is(headers.get('retry-after'), '10');
}

test('slow uploads of one subject leave places for others and for commands', async () => {
  const server = await openService();
  const [ann, bob, carol] = await Promise.all(
    ['ann', 'bob', 'carol'].map((sub) => tokenFor('editor', { sub })),
  );
  assert.ok(ann !== undefined && bob !== undefined && carol !== undefined);
  const uploads = new SlowUploads(server);
  for (let nth = 0; nth < 8; nth += 1) await uploads.begin(ann);
  const file = 'name\nOndine\n';
  const own = postImport(server, 'brands', file, { token: ann });
  await requireRefused(own, /^8 of your uploads are not finished/);
  assert.is((await importInto(server, 'brands', file, { token: bob })).state, 'done');
  for (let nth = 0; nth < 8; nth += 1) await uploads.begin(bob);
  const other = postImport(server, 'brands', file, { token: carol });
  await requireRefused(other, /^16 uploads are not finished/);
  await importByCommand(server, file);
  assert.equal(await uploads.end(), Array(16).fill(202));
  await server.stop();
});

/** As `catalog-server import` does beside a server. */
async function importByCommand(server: Service, file: string): Promise<void> {
  const order = encodeOrder({
    collection: 'brands',
    format: 'csv',
    match: 'id',
    createMissing: [],
    subject: 'cli:operator',
    currency: null,
  });
  const path = join(server.data, 'imports', randomUUID());
  writeFileSync(`${path}.request`, Buffer.concat([order, Buffer.from(file)]));
  await until('the import of the command has ended', () => {
    if (!existsSync(`${path}.reply`)) return false;
    const reply = decodeReply(readFileSync(`${path}.reply`));
    assert.ok(reply !== null && 'ended' in reply, JSON.stringify(reply));
    return reply.ended;
  });
}

test.run();
