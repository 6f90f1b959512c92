/**
 * How far a follower is behind: the time from the response to a write on the primary to the moment
 * from which the follower shows it. Run it with: bun bench/follow.ts [writes] [writers]
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SECRET, startServer } from '../test/support/server.ts';
import { tokenFor } from '../test/support/client.ts';

const writes = Number(process.argv[2] ?? 500);
const writers = Number(process.argv[3] ?? 1);

const directory = mkdtempSync(join(tmpdir(), 'catalog-follow-'));
const tokenFile = join(directory, 'token');
writeFileSync(tokenFile, await tokenFor('admin'), { mode: 0o600 });
const primary = await startServer({ args: ['--followers'], env: { CATALOG_JWT_SECRET: SECRET } });
const replica = await startServer({
  data: join(directory, 'replica'),
  args: ['--follow', primary.url, '--token-file', tokenFile],
});
while ((await fetch(`${replica.url}/readyz`)).status !== 200) await Bun.sleep(20);

/** @returns milliseconds from the response to a write until a read of the follower shows it. */
async function behind(number: number): Promise<number> {
  const response = await fetch(`${primary.url}/books/`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: `Book ${number}`, pub_date: '2026-11-22' }),
  });
  const answered = performance.now();
  const { id } = (await response.json()) as { id: number };
  const headers = { 'Catalog-Min-Sequence': response.headers.get('catalog-sequence') ?? '' };
  for (;;) {
    const read = await fetch(`${replica.url}/books/${id}/`, { headers });
    await read.arrayBuffer();
    if (read.status === 200) return performance.now() - answered;
  }
}

const delays: number[] = [];
const begun = performance.now();
let next = 0;
await Promise.all(
  Array.from({ length: writers }, async () => {
    while (next < writes) delays.push(await behind((next += 1)));
  }),
);
const seconds = (performance.now() - begun) / 1000;
delays.sort((a, b) => a - b);
const share = (part: number) => delays[Math.floor((delays.length - 1) * part)]?.toFixed(1);
process.stdout.write(
  `${writes} writes by ${writers} in ${seconds.toFixed(1)} s: behind p50 ${share(0.5)} ms, p99 ${share(0.99)} ms, most ${share(1)} ms\n`,
);
await Promise.all([primary.stop(), replica.stop()]);
rmSync(directory, { recursive: true });
