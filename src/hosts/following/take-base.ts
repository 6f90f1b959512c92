/** Taking a base from another host (spec 15.10, 15.13, 15.24): into a file, with progress in the log. */
import type { Disk } from '../../disk/disk.ts';
import { receiveBase, type ReceivedBase } from '../../store/hosts/install-base.ts';
import type { Primary } from './primary-client.ts';

/** Milliseconds between two reports. */
const REPORT_MS = 5000;

const MIB = 1024 * 1024;

interface Options {
  readonly primary: Pick<Primary, 'address' | 'base'>;
  readonly disk: Disk;
  /** The data directory. */
  readonly directory: string;
  /** About how many bytes there will be. */
  readonly expected: number;
  readonly log: { info(message: string): void };
  /** Called with the approximate share of the base that was received, in percent. */
  readonly onProgress?: ((percent: number) => void) | undefined;
  readonly signal: AbortSignal;
}

/** @throws what the network and the disk throw; CatalogError `store_damaged`, `schema_version`. */
export async function takeBase(options: Options): Promise<ReceivedBase> {
  const { primary, disk, directory, expected, log, onProgress, signal } = options;
  log.info(`fetching a base from ${primary.address}, about ${Math.ceil(expected / MIB)} MiB`);
  let reported = performance.now();
  let received = 0;
  const base = await receiveBase(disk, directory, primary.base(signal), (bytes) => {
    received = bytes;
    const percent = Math.min(Math.floor((bytes / Math.max(expected, 1)) * 100), 99);
    onProgress?.(percent);
    if (performance.now() - reported < REPORT_MS) return;
    reported = performance.now();
    log.info(`fetching a base: ${Math.floor(bytes / MIB)} MiB, about ${percent} %`);
  });
  log.info(`fetched a base of ${received} bytes as of change set ${base.sequence}`);
  return base;
}
