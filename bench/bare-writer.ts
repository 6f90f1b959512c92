/**
 * The ceiling of durable writes: node:http over the program's own durable write, and nothing else:
 * `bun bench/bare-writer.ts DIRECTORY`. Every request is answered with its body once that is in a
 * durable file. Requests that arrive while a file is written share the next one. It knows no route,
 * token, row or rule, keeps no index and no trail, and makes no page.
 */
import { mkdirSync, openSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { machineDisk } from '../src/disk/disk.ts';
import { writeDurably } from '../src/disk/durable-file.ts';

interface Waiting {
  readonly text: string;
  readonly respond: () => void;
}

const [directory = '.'] = process.argv.slice(2);
mkdirSync(directory, { recursive: true });
const descriptor = openSync(directory, 'r');

let waiting: Waiting[] = [];
let isWriting = false;
let files = 0;

async function write(): Promise<void> {
  isWriting = true;
  while (waiting.length > 0) {
    const group = waiting;
    waiting = [];
    files += 1;
    const path = join(directory, `${String(files).padStart(12, '0')}.json`);
    const bytes = Buffer.from(`[${group.map(({ text }) => text).join()}]`);
    await writeDurably(machineDisk, path, bytes, descriptor);
    for (const { respond } of group) respond();
    // Lets the clients that got a response send their next requests.
    await new Promise((resolve) => setImmediate(resolve));
  }
  isWriting = false;
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const text = JSON.stringify(JSON.parse(Buffer.concat(chunks).toString()));
    const bytes = Buffer.from(text);
    const respond = () => {
      response.writeHead(200, {
        'Content-Type': 'application/json',
        'Content-Length': bytes.length,
      });
      response.end(bytes);
    };
    waiting.push({ text, respond });
    if (!isWriting) void write();
  });
});

server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object')
    process.stdout.write(`listening on http://127.0.0.1:${address?.port}\n`);
});
