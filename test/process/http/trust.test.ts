/** `--trust-proxy`: whose X-Forwarded-For and X-Request-Id headers are used. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { send } from '../../support/client.ts';
import { killServers, type ServerOptions, startServer } from '../../support/server.ts';

test.after(killServers);

/** The log line of one request with these headers, and the X-Request-Id of its response. */
async function logLine(
  options: ServerOptions,
  headers: Readonly<Record<string, string>>,
): Promise<{ readonly line: Readonly<Record<string, unknown>>; readonly told: string | null }> {
  const server = await startServer({
    ...options,
    args: ['--log-level', 'info', ...(options.args ?? [])],
  });
  const answer = await send(server, 'GET', '/books/', { headers, token: null });
  const { stderr } = await server.stop();
  const line = stderr.split('\n').find((each) => each.includes('"path":"/books/"')) ?? '{}';
  return { line: JSON.parse(line), told: answer.headers.get('x-request-id') };
}

const FORWARDED = { 'X-Forwarded-For': '203.0.113.9', 'X-Request-Id': 'proxy-17' };

test('the log has the client address and the request id that a trusted proxy sends', async () => {
  const { line, told } = await logLine({ args: ['--trust-proxy', 'loopback'] }, FORWARDED);
  assert.is(line['address'], '203.0.113.9');
  assert.is(line['request_id'], 'proxy-17');
  assert.is(told, 'proxy-17');
});

test('headers of an untrusted peer are ignored: the log has its address and a generated id', async () => {
  for (const args of [[], ['--trust-proxy', '10.0.0.0/8']]) {
    const { line, told } = await logLine({ args }, FORWARDED);
    assert.is(line['address'], '127.0.0.1');
    assert.match(String(line['request_id']), /^[\da-f]{8}-[\da-f-]{27}$/);
    assert.is(told, line['request_id']);
  }
});

test('an invalid request id is replaced, even if it comes from a trusted proxy', async () => {
  for (const id of ['a b', '{"level":"error"}', 'x'.repeat(129), '<script>']) {
    const { line } = await logLine(
      { args: ['--trust-proxy', 'loopback'] },
      { ...FORWARDED, 'X-Request-Id': id },
    );
    assert.match(String(line['request_id']), /^[\da-f]{8}-[\da-f-]{27}$/);
  }
});

test('the response to a request without X-Request-Id has none', async () => {
  assert.is((await logLine({}, {})).told, null);
});

test.run();
