/**
 * What the log says about whether a host follows its primary. An operator who was told that it does
 * not must learn when it does, so that line has the same level.
 */

interface Lines {
  info(message: string): void;
  warn(message: string): void;
}

export class FollowingLog {
  readonly #log: Lines;
  /** Whether the last line says that the host does not follow. */
  #hasTrouble = false;

  constructor(log: Lines) {
    this.#log = log;
  }

  /** Warns that the host does not follow. @param message says why. */
  trouble(message: string): void {
    this.#hasTrouble = true;
    this.#log.warn(message);
  }

  /** Says that the host follows. @param address of its primary. */
  following(address: string): void {
    this.#log[this.#hasTrouble ? 'warn' : 'info'](`following ${address}`);
    this.#hasTrouble = false;
  }
}
