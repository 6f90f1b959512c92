/** One client in a thread of its own: GET, or GET and PATCH, of a SKU in turn, each timed. */
import { Agent, request } from 'node:http';

export interface Sample {
  readonly method: 'GET' | 'PATCH';
  /** When the request left, in milliseconds since the epoch. */
  readonly at: number;
  /** Milliseconds to the end of the response. */
  readonly latency: number;
}

export interface Task {
  readonly url: string;
  readonly token: string;
  readonly skus: number;
  readonly seconds: number;
  readonly methods: readonly Sample['method'][];
}

declare const self: Worker;

const agent = new Agent({ keepAlive: true, maxSockets: 1 });

function send(url: string, token: string, method: string, body: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = {
      Authorization: `Bearer ${token}`,
      ...(body !== '' && {
        'Content-Type': 'application/json',
        'Content-Length': Buffer.byteLength(body),
      }),
    };
    const going = request(url, { method, agent, headers }, (response) => {
      if (response.statusCode !== 200)
        reject(new Error(`${method} ${url}: ${response.statusCode}`));
      response.resume();
      response.on('end', resolve);
    });
    going.on('error', reject);
    going.end(body);
  });
}

async function measure({ url, token, skus, seconds, methods }: Task): Promise<Sample[]> {
  const samples: Sample[] = [];
  const end = performance.now() + seconds * 1000;
  for (let nth = 1; performance.now() < end; nth += 1) {
    const path = `${url}/admin/skus/${((nth * 7919) % skus) + 1}/`;
    for (const method of methods) {
      const body = method === 'PATCH' ? JSON.stringify({ price: nth }) : '';
      const begun = performance.now();
      await send(path, token, method, body);
      const at = performance.timeOrigin + begun;
      samples.push({ method, at, latency: performance.now() - begun });
    }
  }
  return samples;
}

self.addEventListener('message', ({ data }: MessageEvent<Task>) => {
  void measure(data).then((samples) => self.postMessage(samples));
});
