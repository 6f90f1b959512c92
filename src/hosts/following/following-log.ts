/**
 * What the log says about whether a host follows its primary. An operator who was told that it does
 * not must learn when it does, so that line has the same level.
 */
import { TEMPORARY_IN_TEXT } from '../../disk/durable-file.ts';
import type { Log } from '../../telemetry/log.ts';

export class FollowingLog {
  readonly #log: Pick<Log, 'info' | 'warn'>;
  /** Why the host does not follow, as the last line says; null if it says that the host follows. */
  #trouble: string | null = null;

  constructor(log: Pick<Log, 'info' | 'warn'>) {
    this.#log = log;
  }

  /** Warns that the host does not follow, unless the last line says the same. @param message why. */
  trouble(message: string): void {
    // Each attempt to write a file has another temporary name.
    const trouble = message.replaceAll(TEMPORARY_IN_TEXT, '');
    if (trouble !== this.#trouble) this.#log.warn(message);
    this.#trouble = trouble;
  }

  /** Says how a base arrives. */
  info(message: string): void {
    this.#log.info(message);
  }

  /** Says that the host follows. @param address of its primary. */
  following(address: string): void {
    this.#log[this.#trouble === null ? 'info' : 'warn'](`following ${address}`);
    this.#trouble = null;
  }
}
