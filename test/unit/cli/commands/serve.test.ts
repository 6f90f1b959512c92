/** `serve` whose start fails (spec 8.3): it creates nothing, and closes what it has opened. */
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { temporaryDirectory } from '../../../support/directory.ts';
import { callProgram, directoryWithStore } from '../../../support/program.ts';

let port: string;
const holder = createServer();

test.before(async () => {
  await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve));
  port = String((holder.address() as AddressInfo).port);
});

test.after(() => void holder.close());

/** Serves, which has to fail. @returns the message. */
async function failureOf(data: string, args: readonly string[], exit = 1): Promise<string> {
  const { status, stderr } = await callProgram(['serve', '--data', data, ...args]);
  assert.is(status, exit, stderr);
  return stderr;
}

/** The port is in use, of the server itself or of its metrics. */
const inUse = (): readonly (readonly string[])[] => [
  ['--port', port],
  ['--port', '0', '--metrics-port', port],
];

test('serve creates nothing if it cannot listen for clients or for the operator', async () => {
  const data = join(temporaryDirectory(), 'data');
  for (const args of inUse()) {
    const message = await failureOf(data, args);
    assert.match(message, `port ${port} of 127.0.0.1 is in use`);
    assert.match(message, `another with ${args.at(-2)}`);
    assert.not.ok(existsSync(data));
  }
  const elsewhere = ['--port', '0', '--host', '203.0.113.1'];
  assert.match(await failureOf(data, elsewhere), 'not an address of this machine');
  assert.not.ok(existsSync(data));
});

test('serve creates nothing if the key file of its archive is missing', async () => {
  const directory = temporaryDirectory();
  const [data, key] = [join(directory, 'data'), join(directory, 'key')];
  const args = ['--port', '0', '--archive', `file://${directory}`, '--archive-key', key];
  assert.match(await failureOf(data, args), `there is no key file ${key}`);
  assert.not.ok(existsSync(data));
});

test('no command makes a store or a file of one in the directory of an archive, and all name restore', async () => {
  const data = temporaryDirectory();
  const object = '000000000002-000000000004-20261130T183622504Z-7abf';
  for (const folder of ['bases', 'changes']) {
    mkdirSync(join(data, folder));
    writeFileSync(join(data, folder, object), 'of the archive');
  }
  const advice = `run: catalog-server restore --from file://${data} --data <directory>`;
  for (const args of [
    ['serve', '--port', '0'],
    ['migrate'],
    ['migrate', '--dry-run'],
    ['issue-token', '--subject', 'ann'],
    ['users', 'add', 'ann'],
    ['backup'],
  ]) {
    const input = 'correct horse\n';
    const { status, stderr } = await callProgram([...args, '--data', data], { input });
    assert.is(status, 1, stderr);
    assert.match(stderr, `${data} holds no store, but an archive;`);
    assert.match(stderr, advice);
  }
  assert.equal(readdirSync(data).toSorted(), ['bases', 'changes']);
});

test('serve refuses an archive among the files of its data directory', async () => {
  const data = await directoryWithStore();
  const link = join(temporaryDirectory(), 'link');
  symlinkSync(data, link);
  const missing = join(temporaryDirectory(), 'data');
  const inside = [
    [data, data],
    [data, link],
    [link, join(data, 'changes')],
    [data, join(data, 'pages', 'archive')],
    [missing, missing],
  ] as const;
  for (const [named, archive] of inside) {
    // Without the check, the missing key ends the start.
    const args = ['--port', '0', '--archive', `file://${archive}`, '--archive-key', 'missing'];
    const message = await failureOf(named, args, 2);
    assert.match(message, `the archive ${archive} is in the data directory`);
    assert.match(message, '--archive');
  }
  assert.not.ok(existsSync(missing));
  assert.not.ok(existsSync(join(data, 'archive.json')));
});

test('serve refuses an archive in the data directory of another store', async () => {
  const [data, other] = [await directoryWithStore(), await directoryWithStore()];
  // Without the check, the missing key ends the start.
  const args = ['--port', '0', '--archive', `file://${other}`, '--archive-key', 'missing'];
  const message = await failureOf(data, args, 2);
  assert.match(
    message,
    `the archive ${other} is the data directory of another store; name another`,
  );
  assert.not.ok(existsSync(join(other, 'archive.json')));
});

test('serve refuses flags of hosts that do not go together, and creates nothing', async () => {
  const data = join(temporaryDirectory(), 'data');
  const log = ['--port', '0', '--log', 'etcd://127.0.0.1:1/shop'];
  for (const [flag, value, message] of [
    ['--follow', 'http://127.0.0.1:1', "'--follow <url>' cannot be used with option '--log <url>'"],
    ['--log-cert', 'cert.pem', 'give --log-cert and --log-key together'],
    ['--log-key', 'key.pem', 'give --log-cert and --log-key together'],
    ['--log-user', 'shop', 'give --log-user and --log-password-file together'],
  ] as const) {
    assert.match(await failureOf(data, [...log, flag, value], 2), message);
    assert.not.ok(existsSync(data));
  }
});

test('serve that cannot listen closes the store that it has opened', async () => {
  const data = await directoryWithStore();
  for (const args of [...inUse(), ...inUse()]) {
    // If the store were still open, its lock would be the failure.
    assert.match(await failureOf(data, args), `another with ${args.at(-2)}`);
  }
});

test.run();
