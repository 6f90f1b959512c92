/** What the operations work with: the use cases and the settings of one service. */
import type { Credential } from '../auth/login.ts';
import type { IssuedToken, TokenVerifier } from '../auth/tokens.ts';
import type { Records } from '../resources/records.ts';
import type { Undo } from '../resources/audit/undo.ts';
import type { ChangeFeed } from '../resources/changes/change-feed.ts';
import type { Exports } from '../resources/transfer/exports.ts';
import type { Imports } from '../resources/transfer/imports.ts';
import type { Webhooks } from '../resources/webhooks/webhooks.ts';
import type { ServedDocument } from './operations/document.ts';
import type { JsonLimits } from './rules/json-limits.ts';

export interface Services {
  readonly records: Records;
  readonly undo: Undo;
  readonly changes: Pick<ChangeFeed, 'sequence' | 'reach' | 'page' | 'events'>;
  readonly webhooks: Pick<Webhooks, 'create' | 'deliveriesOf'>;
  readonly exports: Exports;
  readonly imports: Pick<Imports, 'accept' | 'find' | 'all'>;
  readonly tokens: TokenVerifier;
  readonly tokenService: TokenService;
  /** A file of the folder of pages, by its path in it; null if there is none. */
  readonly page: StaticFiles;
  readonly pageBuilds: PageBuildService;
  readonly jsonLimits: JsonLimits;
  readonly readiness: Readiness;
  /** `/openapi.json`, made when it is first asked for. */
  readonly description: () => ServedDocument;
}

/** Why writes cannot be taken now, in words for an operator; null if they can. */
export type Readiness = () => string | null;

/** A file of the folder, by its path in it; null if there is none. */
type StaticFiles = (name: string) => Promise<Pick<ServedDocument, 'body' | 'modified'> | null>;

export interface TokenService {
  /**
   * @param lifetime of the token, in seconds.
   * @param address of the client.
   * @throws CatalogError `unauthorized`, `login_throttled`.
   */
  issue(credential: Credential, lifetime: number, address: string): Promise<IssuedToken>;
  /**
   * Ends a token, durably.
   *
   * @param expires seconds since the epoch; null if it is not known.
   */
  revoke(jti: string, expires: number | null): Promise<void>;
}

interface PageBuildService {
  /**
   * @param scope ids of SKUs, or null for all pages; with `stale` only those that differ.
   * @throws CatalogError `invalid`, `too_many_builds`.
   */
  start(scope: PageBuildScope): PageBuildObject;
  find(id: number): PageBuildObject | null;
  all(): readonly PageBuildObject[];
}

interface PageBuildScope {
  readonly stale: boolean;
  readonly skus: readonly number[] | null;
}

/** As it is shown, whatever it holds besides. */
export type PageBuildObject = Readonly<{ id: number }> & object;
