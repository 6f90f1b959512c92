/** spec 11.5: how many responses may wait for clients that do not read them. */
import type { IncomingMessage } from 'node:http';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { UnreadResponses } from '../../../../src/http/wire/responses/unread-responses.ts';
import { until } from '../../../support/until.ts';
import { staged } from '../../../support/wire.ts';

/** Responses of clients, which are the first letters of their names, and those that were cut off. */
function setting(limit: number) {
  const cut: string[] = [];
  const names = new Map<unknown, string>();
  const nameOf = (socket: unknown) => names.get(socket) ?? '';
  const cuts = { cut: (socket: unknown) => void cut.push(nameOf(socket)) };
  const unread = new UnreadResponses(limit, ({ socket }) => nameOf(socket).charAt(0), cuts);
  const add = (name: string) => {
    const socket = {} as IncomingMessage['socket'];
    names.set(socket, name);
    return unread.add({ socket, headers: {} });
  };
  return { add, cut };
}

test('if too many responses wait, the one that has waited longest is cut off', () => {
  const { add, cut } = setting(2);
  for (const name of ['a1', 'a2', 'a3', 'a4']) add(name);
  assert.equal(cut, ['a1', 'a2']);
});

test('the client with the most of them loses one, whoever has waited longest', () => {
  const { add, cut } = setting(3);
  for (const name of ['a1', 'b1', 'b2', 'c1']) add(name);
  assert.equal(cut, ['b1']);
  add('b3');
  assert.equal(cut, ['b1', 'b2']);
});

test('of clients with equally many, the one that has waited longest loses one', () => {
  const { add, cut } = setting(3);
  const first = add('a1');
  for (const name of ['b1', 'c1']) add(name);
  first();
  for (const name of ['a2', 'd1']) add(name);
  assert.equal(cut, ['b1']);
});

test('a response that does not wait any more does not count, and is not cut off', () => {
  const { add, cut } = setting(2);
  const first = add('a1');
  const second = add('a2');
  first();
  add('a3');
  assert.equal(cut, []);
  add('a4');
  assert.equal(cut, ['a2']);
  second();
  add('a5');
  assert.equal(cut, ['a2', 'a3'], 'the end of one that was cut off changes nothing');
});

const PIECE = 'x'.repeat(64 * 1024);

test('a connection whose client does not read is closed if too many others do not read either', async () => {
  const waiting: string[] = [];
  const application = ({ path }: { readonly path: string }) => {
    const body = (async function* () {
      try {
        for (;;) yield PIECE;
      } finally {
        waiting.splice(waiting.indexOf(path), 1);
      }
    })();
    waiting.push(path);
    return { status: 200, headers: {}, body };
  };
  await staged(
    application,
    async (stage) => {
      // Each waits once the system keeps no more for its connection.
      for (const path of ['/1', '/2', '/3', '/4']) {
        const client = stage.connect();
        client.socket.pause();
        client.send(`GET ${path}`);
        await until('the request is carried out', () => waiting.includes(path));
      }
      await until('two responses are cut off', () => stage.records.length === 2);
      assert.is(waiting.length, 2);
      assert.equal(
        stage.records.map(({ aborted }) => aborted),
        [true, true],
      );
    },
    { unread: 2 },
  );
});

test.run();
