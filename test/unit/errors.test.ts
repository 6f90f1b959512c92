/** Texts of errors for the operator (spec 8.8). */
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  CatalogError,
  messageOf,
  publicMessageOf,
  shellWord,
  systemErrorCode,
} from '../../src/errors.ts';

test('the message for a failure of fetch leaves out the advice for programmers', async () => {
  const server = createServer((socket) => socket.once('data', () => socket.destroy()));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  try {
    await fetch(`http://127.0.0.1:${port}/`);
    assert.unreachable('the server closes the connection');
  } catch (error) {
    assert.match(String(error), 'in the second argument to fetch()', 'the engine still says it');
    assert.match(messageOf(error), /connection was closed unexpectedly$/);
  } finally {
    server.close();
  }
});

test('the message for a response that is not HTTP says so', async () => {
  const server = createServer((socket) => void socket.end('SSH-2.0-OpenSSH_9.6\r\n'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const message = await fetch(`http://127.0.0.1:${port}/`).then(String, messageOf);
  server.close();
  assert.is(message, 'the response is not HTTP');
});

test('the message for a connection that is refused asks nothing', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  const message = await fetch(`http://127.0.0.1:${port}/`).then(String, messageOf);
  assert.match(message, /^ECONNREFUSED: Unable to connect$/);
});

test('an error that the runtime calls unknown has the reason of the system', () => {
  const error = (code: string, message: string) => Object.assign(new Error(message), { code });
  for (const [code, reason] of [
    ['EDQUOT', 'disk quota exceeded'],
    ['ESTALE', 'stale file handle'],
    ['EUCLEAN', 'structure needs cleaning'],
  ] as const) {
    const cause = error(code, `${code}: unknown error, open '/srv/data'`);
    assert.is(messageOf(cause), `${code}: ${reason}, open '/srv/data'`);
    assert.is(publicMessageOf(cause), `${code}: ${reason}, open`);
  }
  assert.is(messageOf(error('EXYZ', 'EXYZ: unknown error')), 'EXYZ: unknown error');
});

test('a thrown value that is not an Error is converted to text', () => {
  assert.is(messageOf(new Error('reason')), 'reason');
  assert.is(messageOf('reason'), 'reason');
  assert.is(messageOf(null), 'null');
});

test('only errors of the operating system have a system code', () => {
  const codeOf = (make: () => unknown) => {
    try {
      return systemErrorCode(make());
    } catch (error) {
      return systemErrorCode(error);
    }
  };
  assert.is(
    codeOf(() => readFileSync('/there/is/no/such/file')),
    'ENOENT',
  );
  assert.is(
    codeOf(() => Object.assign(new Error('full'), { code: 'ENOSPC' })),
    'ENOSPC',
  );
  assert.is(
    codeOf(() => new URL('no address')),
    null,
    'a check of the runtime: ERR_INVALID_URL',
  );
  assert.is(
    codeOf(() => new CatalogError('internal', 'fault')),
    null,
  );
  assert.is(
    codeOf(() => ({ code: 'ENOENT' })),
    null,
  );
});

for (const [text, word] of [
  ['/var/lib/catalog-server', '/var/lib/catalog-server'],
  ['./data', './data'],
  ['ann+shop@example.com', 'ann+shop@example.com'],
  ['f 4', "'f 4'"],
  ["ann's", String.raw`'ann'\''s'`],
  ['$HOME;`id`', "'$HOME;`id`'"],
  ['~/data', "'~/data'"],
  ['größe', "'größe'"],
  ['', "''"],
  ['a\nb', String.raw`"$(printf 'a\012b')"`],
  ["-\t%'\\", String.raw`"$(printf '\055\011\045\047\134')"`],
  ['\u202e', String.raw`"$(printf '\342\200\256')"`],
] as const) {
  test(`in a command ${JSON.stringify(text)} is ${word}`, () => assert.is(shellWord(text), word));
}

test.run();
