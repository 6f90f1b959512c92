/** What a test replaces in a catalog. */
import type { PasswordCheck } from '../auth/passwords.ts';
import type { ObjectStore } from '../archive/storage/object-store.ts';
import type { OpenConsole } from '../console/assets.ts';
import type { PageMaker } from '../pages/writer/page-writer.ts';
import type { Send } from '../resources/webhooks/ports.ts';

/** A server leaves out all of them. */
export interface Seams {
  /** Milliseconds since the epoch; used for stored times, tokens and failed logins. */
  readonly clock?: { readonly now: () => number };
  readonly verifyPassword?: PasswordCheck;
  /** Bytes that the disk of the data directory can still take. */
  readonly freeSpace?: () => Promise<number>;
  /** The files of the console. */
  readonly openConsole?: OpenConsole;
  /** Makes the pages; if left out, a thread does. */
  readonly pageMaker?: PageMaker | undefined;
  readonly archiveStore?: ObjectStore;
  /** Delivers to webhooks. */
  readonly send?: Send;
  /** Milliseconds to the next attempt to deliver, by the number of failures in a row. */
  readonly retryDelay?: (failures: number) => number;
  /** Milliseconds after which a stream of changes without events gets a comment. */
  readonly commentMs?: number;
  /** Milliseconds after which an idle stream of change sets gets an empty line. */
  readonly emptyLineMs?: number;
}
