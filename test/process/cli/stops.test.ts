/** spec 8.9: a server that is stopped before it serves. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { temporaryDirectory } from '../../support/directory.ts';
import { PROGRAM } from '../../support/paths.ts';
import { collect, runCommand, SECRET } from '../../support/server.ts';

/** Another host or a node of etcd that takes connections, and is silent. */
async function silentHost() {
  const sockets: Socket[] = [];
  const server = createServer((socket) => void sockets.push(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    address: `127.0.0.1:${port}`,
    asked: once(server, 'connection'),
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

const follow = (address: string) => {
  const tokenFile = join(temporaryDirectory(), 'token');
  writeFileSync(tokenFile, 'token', { mode: 0o600 });
  return ['--follow', `http://${address}`, '--token-file', tokenFile];
};

for (const [what, flags] of [
  ['etcd', (address: string) => ['--log', `etcd://${address}/shop`]],
  ['etcd with two nodes', (address: string) => ['--log', `etcd://${address},${address}/shop`]],
  ['the primary', follow],
] as const) {
  for (const isEmpty of [true, false]) {
    const store = isEmpty ? 'without a store' : 'with a store';
    test(`a start ${store} that waits for ${what} ends at once, and its port is never open`, async () => {
      const data = temporaryDirectory();
      if (!isEmpty) await runCommand(['migrate', '--data', data]);
      const host = await silentHost();
      const child = spawn(
        PROGRAM,
        ['serve', '--data', data, '--port', '0', ...flags(host.address)],
        {
          env: { PATH: process.env['PATH'] ?? '', CATALOG_JWT_SECRET: SECRET },
          stdio: ['ignore', 'pipe', 'pipe'],
        },
      );
      const ended = collect(child);
      try {
        await host.asked;
        child.kill('SIGTERM');
        const { status, stdout, stderr } = await ended;
        assert.equal([status, stdout, stderr], [0, '', '']);
      } finally {
        child.kill('SIGKILL');
        host.close();
      }
    });
  }
}

test.run();
