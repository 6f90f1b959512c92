/** What the operations work with: the use cases and the settings of one service. */
import type { Role } from '../auth/roles.ts';
import type { Credential } from '../auth/login.ts';
import type { IssuedToken, TokenVerifier, Verified } from '../auth/tokens.ts';
import type { OpenConsole } from '../console/assets.ts';
import type { Kind } from '../model/kind.ts';
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
  readonly changes: Pick<ChangeFeed, 'sequence' | 'reach' | 'page' | 'events'>;
  readonly webhooks: Pick<Webhooks, 'create' | 'deliveriesOf'>;
  readonly exports: Pick<Downloads, 'open'>;
  readonly imports: Pick<Imports, 'accept' | 'show' | 'all'>;
  readonly tokens: TokenVerifier;
  readonly tokenService: TokenService;
  readonly users: UserService;
  /** A file of the folder of pages, by its path in it; null if there is none. */
  readonly page: StaticFiles;
  readonly summary: SummaryService;
  readonly previews: PreviewService;
  readonly pageBuilds: PageBuildService;
  readonly hosts: HostService;
  readonly jsonLimits: JsonLimits;
  readonly readiness: Readiness;
  readonly readinessDetails: () => ReadinessDetails;
  readonly openConsole: OpenConsole;
  /** `/openapi.json`, made when it is first asked for. */
  readonly description: () => ServedDocument;
}

/** Why writes cannot be taken now, in words for an operator; null if they can. */
export type Readiness = () => string | null;

/** What `/readyz?verbose` tells beyond whether the server takes writes. */
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
   * Issues another token for the account of a caller.
   *
   * @throws CatalogError `unauthorized`, `forbidden`, `login_throttled`.
   */
  renew(caller: Verified): Promise<IssuedToken>;
  /**
   * Ends a token, durably.
   *
   * @param own the caller whose token it is; null if it is that of somebody else.
   */
  revoke(jti: string, own: Verified | null): Promise<void>;
}

/** An account as clients see it: nothing of its password. */
export interface UserObject {
  readonly name: string;
  readonly role: Role;
  readonly disabled: boolean;
  /** RFC 3339, UTC. */
  readonly created: string;
}

/** Each member is changed if it is there; the password is as the user types it. */
export type UserChange = Partial<Pick<UserObject, 'role' | 'disabled'> & { password: string }>;

/** Called with the account before it is changed, while nobody else changes it; may throw. */
export type UserGuard = (current: UserObject) => void;

export interface UserService {
  /** By ascending name. */
  all(): readonly UserObject[];
  find(name: string): UserObject | null;
  /**
   * @param subject whose request it is, as below.
   * @throws CatalogError `invalid`, `login_throttled`, `write_refused`, `access_file`.
   */
  create(subject: string, user: Required<UserChange> & { name: string }): Promise<UserObject>;
  /** @throws CatalogError `not_found`, `last_admin`, and as `create`. */
  change(subject: string, name: string, change: UserChange, guard: UserGuard): Promise<UserObject>;
  /** @throws CatalogError `not_found`, `last_admin`, `write_refused`, `access_file`. */
  remove(subject: string, name: string, guard: UserGuard): Promise<void>;
  /** Ends every token of the account. @throws CatalogError as `remove`. */
  endTokens(subject: string, name: string): Promise<void>;
}

export interface PreviewService {
  /**
   * The page of a SKU or an SPU as it would be after a write that is not made.
   *
   * @param body parsed JSON.
   * @returns the page's text.
   * @throws CatalogError `invalid`, `integrity`, `busy`, `page_failed`.
   */
  page(kind: Kind, body: unknown): Promise<string>;
}

/** What an operator should see to. */
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
  /** ISO 4217: that of all prices. */
  readonly currency: string;
  readonly warnings: readonly Warning[];
}

export interface SummaryService {
  read(): Promise<Summary>;
  /** The latest changes, the newest first: for admins alone. */
  changes(): readonly object[];
}

interface PageBuildService {
  /**
   * @param scope ids of SKUs, or null for all pages; with `stale` only those that differ.
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

/** As it is shown, whatever it holds besides. */
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
  /** Whom a follower follows. */
  readonly primary: string | null;
  readonly schema: number;
  /** The last change set, and its digest. */
  readonly sequence: number;
  readonly digest: string;
  /** About how many bytes a base has. */
  readonly base_bytes: number;
  /** Changes with the accounts, keys and revocations. */
  readonly credentials: string;
  /** Tells one CATALOG_JWT_SECRET from another; null if the keys are in a file. */
  readonly secret: string | null;
}

/** What this host tells those that follow it. */
export interface HostService {
  /** @param known the latest epoch that the asking host knows; null if it knows none. */
  state(known: KnownEpoch | null): Promise<HostState>;
  /** Accounts, keys and revocations. @throws CatalogError `key_file`, `access_file`. */
  credentials(): { readonly digest: string; readonly files: object };
  /** The whole catalog as of now, as a base document. @throws CatalogError `busy`. */
  base(): BodyStream;
  /**
   * The change sets after a sequence as they are stored, a line each, and all that follow; an empty
   * line now and then.
   *
   * @param isAllowed whether the reader may still read; the stream ends when it may not.
   * @throws CatalogError `history_gone`, `busy`.
   */
  changes(since: number, isAllowed: () => Promise<boolean>): BodyStream;
}
