/** The settings of a service that its operations and their description depend on. */
export interface Settings {
  /** "" or a path such as "/api", under which everything stands. */
  readonly basePath: string;
  readonly version: string;
  /** Whether writing what anybody may read takes a token. */
  readonly protectBooks: boolean;
  /** Bytes of a file that is imported; 256 MiB if left out. */
  readonly maxImport?: number;
}
