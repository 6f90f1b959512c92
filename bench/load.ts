/** The load of the benchmarks, by wrk. */
import { spawn } from 'node:child_process';
import { ROOT } from './server.ts';

interface Load {
  readonly url: string;
  readonly token: string;
  readonly connections: number;
  readonly seconds: number;
  /** The arguments of bench/requests.lua; left out if every request is a GET of the URL. */
  readonly script?: { readonly name: string; readonly skus: number };
}

let runs = 0;

/**
 * @returns requests per second.
 * @throws Error if a response was a failure, or a connection broke.
 */
export async function requestsPerSecond(load: Load): Promise<number> {
  const { url, token, connections, seconds, script } = load;
  const args = ['-t', '1', '-c', `${connections}`, '-d', `${seconds}s`];
  if (script !== undefined) args.push('-s', 'bench/requests.lua');
  args.push('-H', `Authorization: Bearer ${token}`, url);
  if (script !== undefined) args.push('--', script.name, `${script.skus}`, `${(runs += 1)}`);
  const child = spawn('wrk', args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.on('data', (chunk) => (text += chunk));
  await new Promise((resolve) => child.on('close', resolve));
  const rate = /Requests\/sec: +([\d.]+)/.exec(text)?.[1];
  if (rate !== undefined && !/Non-2xx|Socket errors/.test(text)) return Number(rate);
  throw new Error(`${script?.name ?? url}: ${text}`);
}
