/**
 * How long one request right after a start holds the others up:
 * `bun bench/first-requests.ts [SKUS] [EXECUTABLE…]`.
 *
 * For each request a new server starts on a copy of one store, while a client GETs a book each
 * millisecond. It prints the milliseconds that the request took and those of the slowest GET
 * meanwhile, by executable. To bind the servers to one processor: `SERVERS_ON=1`.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { bound, build, EXECUTABLE, fillAtRest, inDirectory, issueToken } from './server.ts';

const SKUS = Number(process.argv[2] ?? 100_000);
const EXECUTABLES = process.argv.length > 3 ? process.argv.slice(3) : [EXECUTABLE];

/** Milliseconds between the first response of the server and the request. */
const BEFORE_MS = 10;

type Request = readonly [method: string, path: string, body?: unknown];

const REQUESTS: readonly Request[] = [
  ['GET', '/admin/skus/5/'],
  ['GET', '/admin/skus/'],
  ['GET', '/admin/skus/?per_page=1000'],
  ['GET', '/admin/skus/?goods_id=7'],
  ['GET', '/admin/skus/?keyword=Phone'],
  ['GET', '/admin/skus/?sortby=price'],
  ['GET', '/admin/skus/export/?format=ndjson&goods_id=3'],
  ['GET', '/pages/skus/77.html'],
  ['PATCH', '/admin/skus/5/', { price: 5 }],
  ['PATCH', '/admin/skus/bulk/', Array.from({ length: 100 }, (_, n) => ({ id: n + 1, price: 7 }))],
  ['DELETE', '/admin/skus/9/'],
  ['PATCH', '/admin/goods/9/', { name: 'Renamed' }],
  ['PATCH', '/admin/specs/9/', { name: 'Renamed' }],
];

interface Figures {
  readonly took: number;
  readonly heldUp: number;
}

async function timed(url: string, init: RequestInit): Promise<{ ok: boolean; took: number }> {
  const begun = performance.now();
  try {
    const response = await fetch(url, init);
    await response.arrayBuffer();
    return { ok: response.ok, took: performance.now() - begun };
  } catch {
    // It does not listen yet.
    return { ok: false, took: 0 };
  }
}

async function ended(child: ChildProcess): Promise<void> {
  const end = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  if (child.exitCode === null) await end;
}

async function measure(
  command: readonly string[],
  origin: string,
  [method, path, body]: Request,
  token: string,
): Promise<Figures> {
  const [program, ...args] = bound(command);
  const child = spawn(program, args, { stdio: 'ignore' });
  try {
    const book = () => timed(`${origin}/books/1/`, {});
    while (!(await book()).ok) {
      if (child.exitCode !== null) throw new Error(`${command.join(' ')} ended`);
      await Bun.sleep(1);
    }
    await Bun.sleep(BEFORE_MS);
    const request = timed(`${origin}${path}`, {
      method,
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const over = request.then(() => null);
    let heldUp = 0;
    for (;;) {
      const beside = await book();
      heldUp = Math.max(heldUp, beside.took);
      if ((await Promise.race([over, Bun.sleep(1).then(() => 'goes on')])) === null) break;
    }
    const { ok, took } = await request;
    if (!ok) throw new Error(`${method} ${path} failed`);
    return { took, heldUp };
  } finally {
    await ended(child);
  }
}

await inDirectory(async (directory) => {
  build();
  process.env['CATALOG_JWT_SECRET'] = 'a secret of the benchmark, 32 bytes';
  const filled = fillAtRest(directory, SKUS);
  const data = join(directory, 'copy');
  const token = issueToken(filled);
  let port = 20_000 + (process.pid % 20_000);
  for (const request of REQUESTS) {
    const [method, path] = request;
    const found: string[] = [];
    for (const executable of EXECUTABLES) {
      rmSync(data, { recursive: true, force: true });
      cpSync(filled, data, { recursive: true });
      port += 1;
      const command = [executable, 'serve', '--port', String(port), '--data', data];
      const figures = await measure(command, `http://127.0.0.1:${port}`, request, token);
      found.push(`${figures.took.toFixed(0)} ms, others ${figures.heldUp.toFixed(0)} ms`);
    }
    process.stdout.write(`${method} ${path}: ${found.join('; ')}\n`);
  }
});
