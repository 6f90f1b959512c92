/** One shell that keeps its variables between commands, as a terminal does. */
import { spawn } from 'node:child_process';

/** Ends the output of a command; no command of the documents prints it. */
const MARK = '--- end of command ---';

export interface Shell {
  /** Runs a line, and returns what it printed to standard output, without carriage returns. */
  run(line: string): Promise<string>;
  close(): void;
}

/**
 * @param cwd the directory in which commands are run.
 * @param env variables besides PATH.
 */
export function openShell(cwd: string, env: Readonly<Record<string, string>> = {}): Shell {
  const child = spawn('bash', ['--norc', '--noprofile'], {
    cwd,
    env: { PATH: process.env['PATH'] ?? '', LC_ALL: 'C.UTF-8', ...env },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  let output = Buffer.alloc(0);
  let waiting = (): void => {};
  child.stdout.on('data', (chunk: Buffer) => {
    output = Buffer.concat([output, chunk]);
    waiting();
  });
  return {
    run: (line) =>
      new Promise((resolve, reject) => {
        child.once('exit', reject);
        waiting = () => {
          const end = output.indexOf(MARK);
          if (end < 0) return;
          const text = output.subarray(0, end).toString().replaceAll('\r', '');
          output = output.subarray(end + MARK.length + 1);
          child.off('exit', reject);
          resolve(text);
        };
        child.stdin.write(`{ ${line}\n} 2>/dev/null\nprintf '%s\\n' '${MARK}'\n`);
      }),
    close: () => child.kill('SIGKILL'),
  };
}
