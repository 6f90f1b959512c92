/**
 * The ceiling: node:http and nothing else: `bun bench/bare.ts [RESPONSE]`. The response to GET is a
 * ready SKU, or the one that is given as JSON; PUT parses the body and sends it back. It stores
 * nothing, checks nothing, and reads no header.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

/** The response to GET. */
export interface BareResponse {
  /** Except `Content-Length` and those that node:http adds itself. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /**
   * Whether it also keeps two promises of the program: it reads the request's headers for a
   * condition, and waits until the client has taken the response. It is then told, like the
   * program's server, that requests without a body have none.
   */
  readonly promises?: boolean;
}

const JSON_TYPE = { 'Content-Type': 'application/json' };

const SKU = JSON.stringify({
  id: 17,
  name: 'Benchmark SKU 17',
  goods: 'Benchmark SPU 17',
  goods_id: 17,
  caption: 'Made for measuring',
  category_id: 3,
  category: 'Third level',
  price: 499900,
  cost_price: 399900,
  market_price: 549900,
  stock: 200,
  sales: 0,
  is_launched: true,
  specs: [{ spec_id: 17, option_id: 17 }],
});

const given = process.argv[2];
const READY: BareResponse =
  given === undefined ? { headers: JSON_TYPE, body: SKU } : (JSON.parse(given) as BareResponse);
const READY_BYTES = Buffer.from(READY.body);
const NOTHING = Buffer.alloc(0);

function respond(
  response: ServerResponse,
  headers: Readonly<Record<string, string>>,
  bytes: Buffer,
): void {
  response.writeHead(200, { ...headers, 'Content-Length': bytes.length });
  response.end(bytes);
}

/** @returns when the client has taken the response. */
async function respondAsPromised(
  { headers }: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const isKnown = headers['if-none-match'] === READY.headers['etag'];
  respond(response, READY.headers, isKnown ? NOTHING : READY_BYTES);
  if (!response.writableFinished) await once(response, 'finish');
}

const options = { optimizeEmptyRequests: READY.promises === true };
const server = createServer(options, (request, response) => {
  if (request.method === 'GET') {
    if (READY.promises === true) void respondAsPromised(request, response);
    else respond(response, READY.headers, READY_BYTES);
    return;
  }
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const text = JSON.stringify(JSON.parse(Buffer.concat(chunks).toString()));
    respond(response, JSON_TYPE, Buffer.from(text));
  });
});

server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object')
    process.stdout.write(`listening on http://127.0.0.1:${address?.port}\n`);
});
