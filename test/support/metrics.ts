/** What monitors read of a server (`--metrics-port`). */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { type ServerOptions, startServer, type TestServer } from './server.ts';
import { until } from './until.ts';

export interface Measured {
  readonly server: TestServer;
  /** Where its metrics are. */
  readonly operator: { readonly url: string };
}

/** A server with metrics on a port of its own, and their address. */
export async function measured({ args = [], ...more }: ServerOptions = {}): Promise<Measured> {
  const server = await startServer({
    ...more,
    args: ['--metrics-port', '0', '--log-level', 'info', ...args],
  });
  const found = () => /"url":"(http:[^"]+)\/metrics"/.exec(server.said())?.[1];
  await until('the log names the port', () => found() !== undefined);
  return { server, operator: { url: found() ?? '' } };
}

/** Values by the name of their series, labels included. */
export async function valuesOf(operator: Measured['operator']): Promise<Map<string, number>> {
  const answer = await fetch(`${operator.url}/metrics`);
  assert.is(answer.status, 200);
  assert.match(answer.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
  const lines = (await answer.text()).split('\n').filter((line) => /^[^#]/.test(line));
  return new Map(
    lines.map((line) => {
      const [, name = '', value] = /^(\S+(?:\{.*\})?) (\S+)$/.exec(line) ?? [];
      assert.ok(Number.isFinite(Number(value)), line);
      return [name, Number(value)];
    }),
  );
}

/** Waits until every page is as the store is and their manifest is kept: nothing of it is on its way. */
export async function pagesAtRest({ server, operator }: Measured): Promise<void> {
  const length = async () => (await valuesOf(operator)).get('catalog_page_queue_length');
  await until('no page waits', async () => (await length()) === 0);
  await until('the manifest is kept', () => existsSync(join(server.data, 'pages.manifest')));
}
