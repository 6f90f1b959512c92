/**
 * What a checkpoint costs other requests: `bun bench/checkpoint.ts [SKUS] [SECONDS]`.
 *
 * wrk keeps writing, which makes a checkpoint due again and again, while another client sends one
 * request at a time (probe.ts). Its latencies are split by whether a checkpoint was under way: the
 * load is the same, so the difference is the cost of the checkpoint.
 */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { latencyLine, latencyTitle, probe } from './latency.ts';
import { requestsPerSecond } from './load.ts';
import type { Sample } from './probe.ts';
import { build, fill, inDirectory, issueToken, need, pagesMade, serve } from './server.ts';

const SKUS = Number(process.argv[2] ?? 100_000);
const SECONDS = Number(process.argv[3] ?? 60);
const WRITERS = 16;

/** Milliseconds between two looks at the directory. */
const LOOK_EVERY = 10;

const now = () => performance.timeOrigin + performance.now();

interface Span {
  readonly from: number;
  readonly to: number;
}

/** Records when checkpoints ran: from a base's temporary file until the base is another file. */
class Checkpoints {
  readonly spans: Span[] = [];
  readonly #data: string;
  #base: number;
  /** When a temporary file appeared, which may belong to another file; null while there is none. */
  #from: number | null = null;

  constructor(data: string) {
    this.#data = data;
    this.#base = this.#baseInode();
  }

  look(): void {
    const isWriting = readdirSync(this.#data).some((name) => name.endsWith('.tmp'));
    const base = this.#baseInode();
    if (base !== this.#base && this.#from !== null)
      this.spans.push({ from: this.#from, to: now() });
    this.#base = base;
    this.#from = isWriting ? (this.#from ?? now() - LOOK_EVERY) : null;
  }

  #baseInode(): number {
    return statSync(join(this.#data, 'catalog.json')).ino;
  }
}

void inDirectory(async (directory) => {
  need('wrk');
  build();
  const data = join(directory, 'data');
  fill(data, SKUS);
  const token = issueToken(data);
  const { url } = await serve(data);
  await pagesMade(data, SKUS);
  const checkpoints = new Checkpoints(data);
  const timer = setInterval(() => checkpoints.look(), LOOK_EVERY);
  const methods = ['GET', 'PATCH'] as const;
  const script = { name: 'put', skus: SKUS };
  const load = { url, token, connections: WRITERS, seconds: SECONDS + 2, script };
  const task = { url, token, skus: SKUS, seconds: SECONDS, methods };
  const [samples] = await Promise.all([
    probe(task).finally(() => clearInterval(timer)),
    requestsPerSecond(load),
  ]);

  const during = ({ at, latency }: Sample) =>
    checkpoints.spans.some(({ from, to }) => at + latency >= from && at <= to);
  const lengths = checkpoints.spans.map(({ from, to }) => ((to - from) / 1000).toFixed(1));
  process.stdout.write(
    `${SKUS} SKUs, ${WRITERS} connections writing; ${lengths.length} checkpoints of ${lengths.join(', ')} s\n\n` +
      latencyTitle(),
  );
  for (const method of methods) {
    const own = samples.filter((sample) => sample.method === method);
    process.stdout.write(
      latencyLine(
        `${method} without a checkpoint`,
        own.filter((s) => !during(s)),
      ),
    );
    process.stdout.write(latencyLine(`${method} during a checkpoint`, own.filter(during)));
  }
});
