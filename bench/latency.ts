/** Latencies of one client while the server has other work. */
import type { Sample, Task } from './probe.ts';
import { quantile } from './server.ts';

/** Sends one request after the other from a thread of its own. */
export function probe(task: Task): Promise<Sample[]> {
  const worker = new Worker(new URL('./probe.ts', import.meta.url));
  return new Promise((resolve, reject) => {
    worker.addEventListener('message', ({ data }: MessageEvent<Sample[]>) => resolve(data));
    worker.addEventListener('error', ({ message }) => reject(new Error(message)));
    worker.postMessage(task);
  });
}

export function latencyTitle(): string {
  const columns = ['requests', 'p50', 'p99', 'p99.9', 'max'].map((name) => name.padStart(10));
  return `${'latency of one client, ms'.padEnd(32)}${columns.join('')}\n`;
}

export function latencyLine(title: string, samples: readonly Sample[]): string {
  const sorted = samples.map(({ latency }) => latency).sort((a, b) => a - b);
  const figures = [0.5, 0.99, 0.999, 1].map((share) => quantile(sorted, share).toFixed(1));
  return `${title.padEnd(32)}${[sorted.length, ...figures].map((n) => String(n).padStart(10)).join('')}\n`;
}
