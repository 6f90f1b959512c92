/** Headers that the server adds to the responses of an application, and what they promise. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { HttpRequest, HttpResponse } from '../../../../src/http/message.ts';
import { responsesIn } from '../../../support/raw.ts';
import { until } from '../../../support/until.ts';
import { type Stage, staged } from '../../../support/wire.ts';

/**
 * Responses that end their connection: the client counts later requests of the connection as not
 * carried out, and may send them again on another one (RFC 9112, section 9.6).
 */
const LAST = [
  { what: '414', line: `POST /${'x'.repeat(100)}`, headers: [], statuses: [200, 414] },
  { what: '417', line: 'POST /last', headers: ['Expect: x'], statuses: [200, 417] },
  { what: 'a response during a shutdown', line: null, headers: [], statuses: [200] },
];

for (const { what, line, headers, statuses } of LAST) {
  test(`a request that was sent before ${what} ended its connection is not carried out`, () => {
    const begun: string[] = [];
    const gate = Promise.withResolvers<void>();
    const application = async ({ path }: HttpRequest): Promise<HttpResponse> => {
      begun.push(path);
      await gate.promise;
      return { status: 200, headers: {}, body: '' };
    };
    const run = async (stage: Stage) => {
      const client = stage.connect();
      client.send('POST /first');
      if (line !== null) client.send(line, headers);
      client.send('POST /after');
      await until('all wait', () => stage.server.requests === (line === null ? 2 : 3));
      const closing = line === null ? stage.server.close(60_000) : true;
      gate.resolve();
      const responses = responsesIn(await client.end());
      assert.equal(
        responses.map(({ status }) => status),
        statuses,
      );
      assert.is(responses.at(-1)?.headers['connection'], 'close');
      await until('no request is active', () => stage.server.requests === 0);
      assert.equal(begun, ['/first']);
      assert.is(stage.records.length, statuses.length, 'no response that was not sent is recorded');
      assert.ok(await closing);
    };
    return staged(application, run, { url: 100 });
  });
}

test('a fault has the id of its line in the log, and other responses have none', () =>
  staged(
    ({ path }) => ({ status: Number(path.slice(1)), headers: {}, body: '' }),
    async (stage) => {
      const client = stage.connect();
      for (const status of [200, 404, 500]) client.send(`GET /${status}`);
      client.send('GET /503', ['Connection: close']);
      const ids = responsesIn(await client.end()).map(({ headers }) => headers['x-request-id']);
      const [, , fault, refusal] = stage.records.map(({ id }) => id);
      assert.equal(ids, [undefined, undefined, fault, refusal]);
    },
  ));

test.run();
