/** What the operations work with: the use cases and the settings of one service. */
import type { Role } from '../auth/roles.ts';
import type { Credential } from '../auth/login.ts';
import type { IssuedToken, TokenVerifier, Verified } from '../auth/tokens.ts';
import type { OpenConsole } from '../console/assets.ts';
import type { Kind } from '../model/kind.ts';
import type { PatchMode } from '../resources/input.ts';
import type { Records } from '../resources/records.ts';
import type { Undo } from '../resources/audit/undo.ts';
import type { ChangeFeed } from '../resources/changes/change-feed.ts';
import type { Downloads } from '../resources/transfer/downloads.ts';
import type { Imports } from '../resources/transfer/imports.ts';
import type { Webhooks } from '../resources/webhooks/webhooks.ts';
import type { BodyStream } from './message.ts';
import type { ServedDocument } from './operations/document.ts';
import type { JsonLimits } from '../json/json-limits.ts';

export interface Services {
  readonly records: Records;
  readonly undo: Undo;
  readonly changes: Pick<ChangeFeed, 'sequence' | 'awaited' | 'page' | 'events'>;
  readonly webhooks: Pick<Webhooks, 'create' | 'deliveriesOf'>;
  readonly exports: Pick<Downloads, 'open'>;
  readonly imports: Pick<Imports, 'accept' | 'show' | 'all'>;
  readonly tokens: TokenVerifier;
  readonly tokenService: TokenService;
  readonly users: UserService;
  /** The files of the folder of pages. */
  readonly page: StaticFiles;
  readonly summary: SummaryService;
  readonly previews: PreviewService;
  readonly pageBuilds: PageBuildService;
  readonly hosts: HostService;
  readonly jsonLimits: JsonLimits;
  /** Why writes cannot be taken now, in words for an operator; null if they can. */
  readonly readiness: () => string | null;
  readonly readinessDetails: () => ReadinessDetails;
  readonly openConsole: OpenConsole;
  /** `/openapi.json`, made when it is first asked for. */
  readonly description: () => ServedDocument;
}

/** What `/readyz?verbose` reports in addition to whether the server takes writes. */
export interface ReadinessDetails {
  /** How far the archive is behind; left out if there is none. */
  readonly archive?: {
    readonly behind_change_sets: number;
    readonly behind_seconds: number;
    /** Whether the last attempt to reach it failed. */
    readonly failing: boolean;
  };
  /** How far a host is behind the one that it follows; left out if it follows none. */
  readonly following?: {
    readonly behind_change_sets: number;
    readonly behind_seconds: number;
    /** Whether change sets arrive. */
    readonly connected: boolean;
  };
}

/**
 * Finds a file of a folder by its path in it, for a client, as `networkOf` tells clients apart; null
 * if there is no such file.
 */
type StaticFiles = (
  name: string,
  client: string,
) => Promise<Pick<ServedDocument, 'body' | 'modified'> | null>;

export interface TokenService {
  /**
   * @param lifetime seconds until the token expires.
   * @param address of the client.
   * @throws CatalogError `unauthorized`, `login_throttled`.
   */
  issue(credential: Credential, lifetime: number, address: string): Promise<IssuedToken>;
  /**
   * Issues another token for the account of a caller.
   *
   * @throws CatalogError `unauthorized`, `forbidden`, `login_throttled`.
   */
  renew(caller: Verified): Promise<IssuedToken>;
  /**
   * Revokes a token, durably.
   *
   * @param own the caller, if the token is its own; null if it belongs to another account.
   */
  revoke(jti: string, own: Verified | null): Promise<void>;
}

/** An account as clients see it, without its password. */
export interface UserObject {
  readonly name: string;
  readonly role: Role;
  readonly disabled: boolean;
  /** RFC 3339, UTC. */
  readonly created: string;
}

/** Only the members that are present are changed; the password is as the user types it. */
export type UserChange = Partial<Pick<UserObject, 'role' | 'disabled'> & { password: string }>;

/** Called with the account before the change, while no other change can run; may throw. */
export type UserGuard = (current: UserObject) => void;

/** Who changes an account. */
export interface UserActor {
  readonly subject: string;
  /**
   * Verifies the token of the request again, after the waits before a change.
   *
   * @throws CatalogError `unauthorized`; it may also reject with it.
   */
  readonly confirm: () => unknown;
}

export interface UserService {
  /** By ascending name, compared by code point. */
  all(): readonly UserObject[];
  find(name: string): UserObject | null;
  /**
   * @throws CatalogError `invalid`, `login_throttled`, `write_refused`, `access_file`, `busy`, and
   *   what `confirm` throws, as the methods below.
   */
  create(actor: UserActor, user: Required<UserChange> & { name: string }): Promise<UserObject>;
  /** @throws CatalogError `not_found`, `last_admin`, and as `create`. */
  change(actor: UserActor, name: string, change: UserChange, guard: UserGuard): Promise<UserObject>;
  /** @throws CatalogError `not_found`, `last_admin`, `write_refused`, `access_file`, `busy`. */
  remove(actor: UserActor, name: string, guard: UserGuard): Promise<void>;
  /** Revokes every token of the account. @throws CatalogError as `remove`. */
  endTokens(actor: UserActor, name: string): Promise<void>;
}

export interface PreviewService {
  /**
   * The page of a SKU or an SPU as it would be after a write. Nothing is written.
   *
   * @param body parsed JSON.
   * @param mode of a change; a body without `id` is a creation.
   * @param subject who asks: subjects take turns.
   * @returns the page's text.
   * @throws CatalogError `invalid`, `integrity`, `busy`, `page_failed`.
   */
  page(kind: Kind, body: unknown, mode: PatchMode, subject: string | null): Promise<string>;
}

/** A condition that an operator should attend to. */
export interface Warning {
  /** For programs; a message may change, a code stays. */
  readonly code: string;
  /** A sentence for people; it names no path of the host. */
  readonly message: string;
}

export interface Summary {
  /** Rows by the name of their collection. */
  readonly counts: Readonly<Record<string, number>>;
  readonly pages: { readonly waiting: number; readonly failed: number };
  readonly store: { readonly bytes: number };
  /** The currency of all prices (ISO 4217). */
  readonly currency: string;
  readonly warnings: readonly Warning[];
}

export interface SummaryService {
  read(): Promise<Summary>;
  /** The latest changes, newest first; shown to admins only. */
  changes(): readonly object[];
}

interface PageBuildService {
  /**
   * @param scope ids of SKUs, or null for all pages; with `stale`, only pages that would change.
   * @throws CatalogError `invalid`, `too_many_builds`.
   */
  start(scope: PageBuildScope): Promise<PageBuildObject>;
  find(id: number): PageBuildObject | null;
  all(): readonly PageBuildObject[];
}

interface PageBuildScope {
  readonly stale: boolean;
  readonly skus: readonly number[] | null;
}

/** A page build as clients see it; only `id` is needed here. */
export type PageBuildObject = Readonly<{ id: number }> & object;

/** An epoch that another host knows (spec 15.14). */
export interface KnownEpoch {
  readonly history: string;
  readonly number: number;
}

/** What a host needs to know before it follows another one. */
export interface HostState {
  readonly history: string;
  readonly epochs: readonly {
    readonly number: number;
    readonly writer: string;
    readonly after: number;
  }[];
  readonly role: 'primary' | 'follower' | 'succeeded';
  /** The host that a follower follows. */
  readonly primary: string | null;
  /** Earlier primaries that have not been informed of the current epoch; the newest is first. */
  readonly predecessors: readonly string[];
  readonly schema: number;
  /** The last change set and its digest. */
  readonly sequence: number;
  readonly digest: string;
  /** Approximate bytes of a base. */
  readonly base_bytes: number;
  /** A digest of the accounts, keys and revocations. */
  readonly credentials: string;
  /** A fingerprint of CATALOG_JWT_SECRET; null if the keys are in a file. */
  readonly secret: string | null;
}

/** What this host provides to its followers. */
export interface HostService {
  /** @param known the latest epoch that the requesting host knows; null if it knows none. */
  state(known: KnownEpoch | null): Promise<HostState>;
  /** Accounts, keys, revocations. @throws CatalogError `forbidden`, `key_file`, `access_file`. */
  credentials(): { readonly digest: string; readonly files: object };
  /** The whole catalog as of now, as a base document. @throws CatalogError `busy`. */
  base(): BodyStream;
  /**
   * Streams the change sets after a sequence as they are stored, one a line, and then each new one.
   * Sends an empty line if there is none for a while.
   *
   * @param isAllowed whether the follower may still read; if not, the stream ends.
   * @throws CatalogError `history_gone`, `busy`.
   */
  changes(since: number, isAllowed: () => Promise<boolean>): BodyStream;
}
