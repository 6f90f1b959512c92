/** The files of the console, as the server sends them: the one part of src/console that it imports. */

export interface Asset {
  /** Media type, parameters included: `text/html; charset=utf-8`. */
  readonly type: string;
  readonly bytes: Uint8Array;
  /** `bytes` compressed; left out if that does not make them smaller. */
  readonly brotli?: Uint8Array;
  readonly gzip?: Uint8Array;
  /** Strong entity tag of `bytes`, with its quotes (RFC 9110, section 8.8.3). */
  readonly etag: string;
  /** Whether the name contains a digest of the content, so that clients may keep it for ever. */
  readonly immutable: boolean;
}

/**
 * Every file by its path below `/console/`: `index.html`, `app-3f9c1b2a.js`.
 *
 * `index.html` names the others from the root of the server, as in `src="/console/app-3f9c1b2a.js"`:
 * it is served at every depth, and the server puts its base path before `"/console/`. The others
 * name files relatively or not at all.
 */
export type ConsoleAssets = ReadonlyMap<string, Asset>;

/** Opens the files of the console. It is called when the first of them is asked for. */
export type OpenConsole = () => Promise<ConsoleAssets>;
