/** Responses to requests whose bodies are too long to be received to their ends. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { responsesIn } from '../../../support/raw.ts';
import { until } from '../../../support/until.ts';
import { type Client, type Stage, staged } from '../../../support/wire.ts';

const MIB = 1024 * 1024;
const BODY_BYTES = 40 * MIB;

/** How the bytes of the body are framed. */
const FRAMINGS = {
  'with its length': { header: `Content-Length: ${BODY_BYTES}`, piece: 'x'.repeat(MIB) },
  'in chunks': {
    header: 'Transfer-Encoding: chunked',
    piece: `100000\r\n${'x'.repeat(MIB)}\r\n`,
  },
};

/** Sends a whole body, whatever the server answers. @returns whether the connection took it all. */
async function sendAll({ socket }: Client, piece: string): Promise<boolean> {
  for (let sent = 0; sent < BODY_BYTES; sent += MIB) {
    const failed = await new Promise((resolve) => socket.write(piece, resolve));
    if (failed) return false;
  }
  return true;
}

/**
 * Runs a test in which no connection is closed because its client takes long to close it. Fails if
 * none would have been closed after the 5 seconds of spec 11.2.
 */
async function withPatience(run: () => Promise<void>): Promise<void> {
  const { setTimeout } = globalThis;
  let patient = 0;
  const set = (work: () => void, milliseconds: number) => {
    if (milliseconds !== 5000) return setTimeout(work, milliseconds);
    patient += 1;
    return setTimeout(work, 1_000_000);
  };
  globalThis.setTimeout = Object.assign(set, setTimeout) as typeof setTimeout;
  try {
    await run();
  } finally {
    globalThis.setTimeout = setTimeout;
  }
  assert.is(patient, 1, 'the client has 5 seconds');
}

/** An error of this host, and one of a host behind a proxy that compresses: it need not be UTF-8. */
const BODIES = { text: '{"error":"no"}', bytes: Buffer.from([0x1f, 0x8b, 0xff, 0xc3, 0x28]) };

const CASES = Object.entries(FRAMINGS).flatMap(([how, framing]) =>
  Object.entries(BODIES).flatMap(([kind, body]) =>
    ['POST', 'HEAD'].map((method) => ({ method, how, ...framing, kind, body })),
  ),
);

for (const { method, how, header, piece, kind, body } of CASES) {
  const sent = Buffer.from(method === 'HEAD' ? '' : body);
  const refuse = () => ({ status: 401, headers: { 'X-Kept': 'yes' }, body });
  test(`a client that sends 40 MiB ${how} before it reads gets the response to ${method}, which is ${kind}`, () =>
    staged(refuse, (stage: Stage) =>
      withPatience(async () => {
        const client = stage.connect();
        // It does not react to the end of the response before it has sent everything.
        client.socket.removeAllListeners('end');
        client.send(`${method} /`, [header]);
        assert.ok(await sendAll(client, piece), 'the connection was reset');
        client.socket.end();
        const [response, ...more] = responsesIn(await client.end(), method === 'HEAD' ? [0] : []);
        assert.equal(more, []);
        assert.is(response?.status, 401);
        assert.is(response?.headers['connection'], 'close');
        assert.is(response?.headers['x-kept'], 'yes');
        assert.is(response?.headers['content-length'], String(Buffer.byteLength(body)));
        assert.is(response?.body, sent.toString('latin1'));
        await until('the connection is closed', () => stage.server.connections === 0);
        assert.equal(
          stage.records.map(({ status, bytes, aborted }) => [status, bytes, aborted]),
          [[401, sent.length, false]],
        );
      }),
    ));
}

test.run();
