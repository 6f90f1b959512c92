/** Checks the environment of a server before it serves, and logs problems. */
import { isDataFile } from '../data-files.ts';
import { shellWord } from '../errors.ts';
import type { Disk } from '../disk/disk.ts';
import { isOpenToOthers, makePrivate } from '../disk/modes.ts';
import { maxOpenFiles } from '../disk/system/open-files.ts';
import type { Log } from '../telemetry/log.ts';
import { connectionLimit } from './engine/connection-limit.ts';

interface Checked {
  /** The data directory, which exists. */
  readonly data: string;
  readonly maxConnections: number;
  readonly workers: number;
}

/**
 * @param openFiles that the process may have. Tests inject their own.
 * @throws CatalogError `write_refused`.
 */
export function runStartupChecks(
  { data, maxConnections, workers }: Checked,
  disk: Pick<Disk, 'list'>,
  log: Log,
  openFiles = maxOpenFiles(),
): void {
  closeDirectory(data, disk, log);
  const advise = (message: string) => (isWatched() ? log.warn(message) : log.info(message));
  if (process.geteuid?.() === 0) {
    advise('the server runs as root; give it a user of its own, see docs/operations.md');
  }
  const connections = connectionLimit(maxConnections, openFiles, workers);
  const taker = workers === 1 ? 'the server' : 'each worker';
  if (connections < maxConnections) {
    advise(
      `${taker} takes ${connections} connections at a time instead of ${maxConnections}, because it may have only ${openFiles} open files; raise that limit (ulimit -Hn, or LimitNOFILE= of systemd), or lower --max-connections`,
    );
  }
}

/** Closes the data directory to other users, unless it contains files of other programs. */
function closeDirectory(data: string, disk: Pick<Disk, 'list'>, log: Log): void {
  if (!isOpenToOthers(data)) return;
  const other = disk.list(data).find((name) => !isDataFile(name));
  if (other !== undefined) {
    // Other users may need it: with --data /tmp, for example.
    log.warn(
      `${data} is open to other users, and stays so because it contains ${JSON.stringify(other)}; give the server a directory of its own`,
    );
    return;
  }
  const privacy = makePrivate(data);
  if (privacy === 'made private') log.info(`${data} was open to other users; its mode is 0700 now`);
  if (privacy === 'open') {
    log.warn(
      `${data} is open to other users and belongs to another user, who should run: chmod 700 ${shellWord(data)}`,
    );
  }
}

/**
 * Whether an operator is likely to read standard error: a terminal, the journal, or the log of a
 * container. A script that runs the program for a moment needs no warning.
 */
function isWatched(): boolean {
  return process.stderr.isTTY || process.env['JOURNAL_STREAM'] !== undefined || process.pid === 1;
}
