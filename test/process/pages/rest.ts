import * as assert from 'uvu/assert';
import { faultsOf } from '../../support/shop.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';

/** Milliseconds of a stop in which no page may be left: less than the five seconds that it may take (docs/pages.md). */
const PROMPT_MS = 4000;

/**
 * Stops a server, after which no page may be stale. A machine that was too slow to make them all
 * while the server stopped has the rest made by the next start.
 *
 * @param args of the server.
 */
export async function stopAtRest(server: TestServer, args: readonly string[] = []): Promise<void> {
  const { data } = server;
  const begunAt = performance.now();
  const { status, stderr } = await server.stop();
  assert.is(status, 0);
  assert.is(stderr, '');
  if (performance.now() - begunAt > PROMPT_MS && faultsOf(data).length > 0) {
    const next = await startServer({ data, args });
    await until('every page is as it should be', () => faultsOf(data).length === 0);
    await next.stop();
  }
  assert.equal(faultsOf(data), []);
}
