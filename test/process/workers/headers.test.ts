/** spec 15.18, 11.3: the limit of headers is the same for requests that a worker passes on. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { exchangeRaw, request } from '../../support/raw.ts';
import { killServers, startServer } from '../../support/server.ts';

test.after.each(killServers);

const LIMIT = 2048;

test('headers near the limit are judged alike, whether a worker answers or passes the request on', async () => {
  const server = await startServer({ args: ['--workers', '2', '--max-headers', `${LIMIT}`] });
  const status = async (path: string, bytes: number) => {
    const headers = [`X-Large: ${'x'.repeat(bytes)}`, 'Connection: close'];
    return (await exchangeRaw(server, [request(`GET ${path}`, headers)])).slice(9, 12);
  };
  const seen = new Set<string>();
  for (let bytes = LIMIT - 600; bytes <= LIMIT; bytes += 40) {
    const own = await status('/healthz', bytes);
    assert.is(await status('/readyz', bytes), own, `${bytes} bytes`);
    seen.add(own);
  }
  assert.equal(seen, new Set(['200', '431']));
});

test.run();
