import * as assert from 'uvu/assert';
import { faultsOf } from '../../support/shop.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';

/** A stop shorter than this many milliseconds writes all pages; it may take 5 s (docs/pages.md). */
const PROMPT_MS = 4000;

/** Stops a server, and checks it as {@link assertAtRest} does. @param args of the server. */
export async function stopAtRest(server: TestServer, args: readonly string[] = []): Promise<void> {
  const stoppedAt = performance.now();
  void server.stop();
  await assertAtRest(server, stoppedAt, args);
}

/**
 * Checks that a server that has got its signal leaves no page stale. If the machine is too slow to
 * write all pages during the stop, the next start writes the rest.
 *
 * @param stoppedAt when the signal was sent, by `performance.now()`.
 * @param args of the server.
 */
export async function assertAtRest(
  { data, finished }: TestServer,
  stoppedAt: number,
  args: readonly string[] = [],
): Promise<void> {
  const { status, stderr } = await finished;
  assert.is(status, 0);
  assert.is(stderr, '');
  if (performance.now() - stoppedAt > PROMPT_MS && faultsOf(data).length > 0) {
    const next = await startServer({ data, args });
    await until('every page is as it should be', () => faultsOf(data).length === 0);
    await next.stop();
  }
  assert.equal(faultsOf(data), []);
}
