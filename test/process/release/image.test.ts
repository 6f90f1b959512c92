/**
 * The image of the Dockerfile, without a container daemon: a directory with the files of its last
 * stage, entered in separate namespaces, as a user other than root, and read-only except for the
 * volume. The environment, the user and the commands are read from the Dockerfile.
 */
import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { send } from '../../support/client.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { PROGRAM, ROOT } from '../../support/paths.ts';
import { succeed } from '../../support/release.ts';
import { collect, type Finished, killServers, serving } from '../../support/server.ts';

const DOCKERFILE = readFileSync(join(ROOT, 'Dockerfile'), 'utf8');

/** The arguments of an instruction of the last stage. */
function instruction(name: string): string[] {
  const stage = DOCKERFILE.slice(DOCKERFILE.lastIndexOf('\nFROM '));
  return [...stage.matchAll(new RegExp(`^${name} (.+)$`, 'gm'))].map(([, text = '']) => text);
}

const words = (json: string): string[] => JSON.parse(json.slice(json.indexOf('[')));

const [USER = ''] = instruction('USER');
const [ENTRYPOINT, CMD, HEALTHCHECK] = ['ENTRYPOINT', 'CMD', 'HEALTHCHECK'].map((name) =>
  words(instruction(name)[0] ?? '[]'),
);

function reasonToSkip(): string | null {
  if (process.getuid?.() !== 0) return 'only root can enter another root';
  if (PROGRAM.endsWith('.ts')) return 'CATALOG_TEST_PROGRAM names no executable';
  if (Bun.which('chroot') === null) return 'there is no chroot here';
  const namespaces = spawnSync('unshare', ['--mount', '--pid', '--fork', 'true']);
  return namespaces.status === 0 ? null : 'there are no namespaces here';
}

function testOf(name: string, body: (image: Image) => Promise<void>): void {
  const reason = reasonToSkip();
  if (reason === null) test(name, () => body(buildImage()));
  else test.skip(`${name} (skipped: ${reason})`, () => {});
}

test.after(killServers);

interface Image {
  readonly root: string;
  /** The volume. */
  readonly data: string;
}

/** Creates the files of the base image and of the COPY instructions of the Dockerfile. */
function buildImage(): Image {
  const [root, data] = [temporaryDirectory(), temporaryDirectory()];
  const libraries = succeed('ldd', [PROGRAM]).matchAll(/(\/\S+) \(0x/g);
  const files = [...libraries].map(([, path = '']): [string, string] => [path, path]);
  files.push([PROGRAM, '/usr/local/bin/catalog-server']);
  for (const [from, to] of files) {
    mkdirSync(dirname(join(root, to)), { recursive: true });
    copyFileSync(from, join(root, to));
  }
  for (const name of ['data', 'dev', 'etc', 'proc', 'tmp']) mkdirSync(join(root, name));
  writeFileSync(join(root, 'etc/passwd'), 'nonroot:x:65532:65532::/home/nonroot:/sbin/nologin\n');
  for (const device of ['null', 'urandom']) writeFileSync(join(root, 'dev', device), '');
  chmodSync(root, 0o755);
  const [uid = '', gid = ''] = USER.split(':');
  chownSync(data, Number(uid), Number(gid));
  return { root, data };
}

/** Mounts the root read-only, and in it the volume, the devices and /proc. */
const ENTER = `
set -e
mount --bind "$1" "$1"
mount --bind "$2" "$1/data"
for device in null urandom; do mount --bind /dev/$device "$1/dev/$device"; done
mount -t proc proc "$1/proc"
mount -o remount,bind,ro "$1"
shift 2
exec "$@"`;

function start({ root, data }: Image, command: readonly string[]) {
  const env = instruction('ENV').filter((each) => !each.startsWith('CATALOG_PORT='));
  return spawn(
    'unshare',
    [
      ...'--mount --pid --fork --kill-child sh -c'.split(' '),
      ENTER,
      'sh',
      root,
      data,
      'chroot',
      `--userspec=${USER}`,
      root,
      '/usr/local/bin/catalog-server',
      ...command.slice(1),
    ],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env['PATH'], ...Object.fromEntries(env.map((each) => each.split('='))) },
    },
  );
}

function run(image: Image, command: readonly string[]): Promise<Finished> {
  return collect(start(image, command));
}

test('the Dockerfile has the expected user, volume, commands and stop signal', () => {
  assert.equal(ENTRYPOINT, ['catalog-server']);
  assert.equal(CMD, ['serve']);
  assert.equal(HEALTHCHECK, ['catalog-server', 'health']);
  assert.match(USER, /^[1-9]\d*:[1-9]\d*$/);
  assert.equal(instruction('VOLUME'), ['/data']);
  assert.ok(instruction('ENV').includes('CATALOG_DATA=/data'));
  assert.equal(instruction('STOPSIGNAL'), ['SIGTERM']);
});

testOf(
  'the image serves, writes only to its volume, reports its health and stops on SIGTERM',
  async (image) => {
    const command = [...(ENTRYPOINT ?? []), ...(CMD ?? [])];
    assert.is((await run(image, ['catalog-server', 'migrate', '--demo'])).status, 0);
    const server = await serving(start(image, [...command, '--port', '0']));
    const port = new URL(server.url).port;
    const local = { ...server, url: `http://127.0.0.1:${port}` };
    const body = { name: 'Written in a container', pub_date: '2026-11-22' };
    assert.is((await send(local, 'POST', '/books/', { token: null, body })).status, 201);
    const healthy = await run(image, [...(HEALTHCHECK ?? []), '--port', port]);
    assert.is(healthy.status, 0, healthy.stderr);
    // The server is process 1 of its namespace, which receives only signals that it handles.
    // unshare does not forward signals.
    const pid = succeed('pgrep', ['--parent', String(server.child.pid)]).trim();
    process.kill(Number(pid), 'SIGTERM');
    const { status, stderr } = await server.finished;
    assert.is(status, 0, stderr);
    const unhealthy = await run(image, [...(HEALTHCHECK ?? []), '--port', port]);
    assert.is(unhealthy.status, 1, unhealthy.stdout);
  },
);

test.run();
