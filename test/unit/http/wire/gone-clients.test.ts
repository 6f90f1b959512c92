/** Clients that disconnect before the body of their request is read: the request still ends. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { HttpRequest, HttpResponse } from '../../../../src/http/message.ts';
import { messageOf } from '../../../../src/errors.ts';
import { until } from '../../../support/until.ts';
import { staged } from '../../../support/wire.ts';

const read = {
  whole: async ({ body }: HttpRequest) => void (await body.bytes(null)),
  'as a stream': async ({ body }: HttpRequest) => {
    for await (const _ of body.stream(1000)) continue;
  },
};

for (const [way, reading] of Object.entries(read)) {
  for (const sent of ['', 'part', 'all of it.']) {
    test(`a body that is read ${way} after its client disconnected is cut off, if "${sent}" was sent`, () => {
      const failures: string[] = [];
      const application = async (request: HttpRequest): Promise<HttpResponse> => {
        await new Promise<void>((resolve) => request.whenGone(resolve));
        await reading(request).catch((error: unknown) => failures.push(messageOf(error)));
        return { status: 200, headers: {}, body: '' };
      };
      return staged(application, async (stage) => {
        const client = stage.connect();
        client.send('POST /', ['Content-Length: 10'], sent);
        await until('the request is carried out', () => stage.server.requests === 1);
        client.socket.resetAndDestroy();
        await until('the request has ended', () => stage.server.requests === 0);
        assert.equal(failures, ['the body is cut off']);
        assert.is(stage.server.bodyMemory, 0);
        await until('the response is recorded', () => stage.records.length === 1);
        assert.is(stage.records[0]?.address, '127.0.0.1', 'the address that it had');
      });
    });
  }
}

test('a wait that begins after its client has disconnected ends at once', () => {
  let begins = 0;
  const application = async (request: HttpRequest): Promise<HttpResponse> => {
    for (; begins < 2; begins += 1) {
      await new Promise<void>((resolve) => request.whenGone(resolve));
    }
    return { status: 200, headers: {}, body: '' };
  };
  return staged(application, async (stage) => {
    const client = stage.connect();
    client.send('GET /');
    await until('the request is carried out', () => stage.server.requests === 1);
    client.socket.resetAndDestroy();
    await until('both waits have ended', () => begins === 2);
  });
});

test('a wait that has ended leaves nothing on its connection', () => {
  let calls = 0;
  const application = (request: HttpRequest): HttpResponse => {
    const stopWaiting = request.whenGone(() => (calls += 1));
    stopWaiting();
    return { status: 200, headers: {}, body: '' };
  };
  return staged(application, async (stage) => {
    const client = stage.connect();
    for (let count = 1; count <= 3; count += 1) client.send('GET /');
    await until('all are answered', () => stage.records.length === 3);
    client.socket.resetAndDestroy();
    await until('the connection is closed', () => stage.server.connections === 0);
    assert.is(calls, 0);
  });
});

test.run();
