/**
 * The ceiling: node:http and nothing else. GET answers a ready SKU; PUT parses the body and
 * answers it. It stores nothing, checks nothing, and reads no header.
 */
import { createServer, type ServerResponse } from 'node:http';

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

function answer(response: ServerResponse, text: string): void {
  response.writeHead(200, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(text),
  });
  response.end(text);
}

const server = createServer((request, response) => {
  if (request.method === 'GET') {
    answer(response, SKU);
    return;
  }
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    answer(response, JSON.stringify(JSON.parse(Buffer.concat(chunks).toString())));
  });
});

server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object')
    process.stdout.write(`listening on http://127.0.0.1:${address?.port}\n`);
});
