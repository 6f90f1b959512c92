/** What the commands are given from outside: streams, environment, version. */

export interface Context {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly version: string;
  /** One line to standard output. */
  readonly print: (line: string) => void;
  /** One line to standard error; the stack of an error follows under `--verbose`. */
  readonly warn: (line: string, error?: unknown) => void;
}
