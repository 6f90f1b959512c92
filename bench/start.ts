/**
 * How long a start takes: `bun bench/start.ts [SKUS] [EXECUTABLE…]`.
 *
 * Executables take turns on one store, so that changes in the machine's speed affect all of them;
 * if none is named, only this build is measured. It prints the milliseconds from the start of the
 * process to the first response, and its peak memory until then: medians of several starts. To bind
 * the servers to one processor: `SERVERS_ON=1 bun bench/start.ts`.
 */
import { spawn } from 'node:child_process';
import {
  bound,
  build,
  EXECUTABLE,
  fillAtRest,
  inDirectory,
  issueToken,
  median,
  memoryOf,
} from './server.ts';

const SKUS = Number(process.argv[2] ?? 100_000);
const EXECUTABLES = process.argv.length > 3 ? process.argv.slice(3) : [EXECUTABLE];
const STARTS = 11;

/** The paths of the first requests. */
const PATHS = ['/admin/skus/1/', '/books/1/'];

interface Started {
  /** To the first response. */
  readonly milliseconds: number;
  /** The peak of resident memory, in MB. */
  readonly megabytes: number;
}

async function answered(url: string, token: string): Promise<boolean> {
  try {
    const response = await fetch(url, { headers: { Authorization: `Bearer ${token}` } });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    // It does not listen yet.
    return false;
  }
}

async function firstResponse(command: string[], url: string, token: string): Promise<Started> {
  const begun = performance.now();
  const [program, ...args] = bound(command);
  const child = spawn(program, args, { stdio: 'ignore' });
  try {
    while (!(await answered(url, token))) {
      if (child.exitCode !== null) throw new Error(`${command.join(' ')} ended`);
      await Bun.sleep(1);
    }
    const milliseconds = performance.now() - begun;
    return { milliseconds, megabytes: memoryOf(child, 'VmHWM') };
  } finally {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    if (child.exitCode === null) await ended;
  }
}

void inDirectory(async (directory) => {
  build();
  process.env['CATALOG_JWT_SECRET'] = 'a secret of the benchmark, 32 bytes';
  const data = fillAtRest(directory, SKUS);
  const token = issueToken(data);
  let port = 20_000 + (process.pid % 20_000);
  for (const path of PATHS) {
    const starts = EXECUTABLES.map((): Started[] => []);
    for (let round = 0; round < STARTS; round += 1) {
      for (const [nth, executable] of EXECUTABLES.entries()) {
        port += 1;
        const command = [executable, 'serve', '--port', String(port), '--data', data];
        starts[nth]?.push(await firstResponse(command, `http://127.0.0.1:${port}${path}`, token));
      }
    }
    for (const [nth, executable] of EXECUTABLES.entries()) {
      const of = (figure: keyof Started) => median((starts[nth] ?? []).map((each) => each[figure]));
      process.stdout.write(
        `${path} of ${SKUS} SKUs: ${of('milliseconds').toFixed(0)} ms, ${of('megabytes').toFixed(0)} MB, ${executable}\n`,
      );
    }
  }
});
