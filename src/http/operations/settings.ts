/** The settings of a service that its operations and their description depend on. */
export interface Settings {
  /** The prefix of all paths: "" or a path such as "/api". */
  readonly basePath: string;
  readonly version: string;
  /** Whether writing to public collections needs a token. */
  readonly protectBooks: boolean;
  /** Most bytes of an imported file. */
  readonly maxImport: number;
}
