/**
 * A server that follows another host (spec 15.10 to 15.13): when it fetches a base, when it opens its
 * catalog, and where its writes go.
 *
 * Order of a start: open the catalog, if there is one; check the primary, if it answers; take a
 * base and open the catalog, if there was none; follow. If the primary no longer keeps the next
 * change set: fetch a base beside the open catalog, close it, put the base in its place, open it
 * again.
 *
 * Invariant: a catalog is closed once, and none is open when {@link FollowerHost.close} has ended.
 */
import { join } from 'node:path';
import { replaceCredentialFiles, secretFingerprint } from '../../auth/sharing/credential-files.ts';
import { Backoff } from '../../backoff.ts';
import { DATA_FILES } from '../../data-files.ts';
import { readSecretFile } from '../../disk/secret-file.ts';
import { pause } from '../../delay.ts';
import { CatalogError, messageOf } from '../../errors.ts';
import { parseHostAddress, requireSecure } from '../../hosts/address.ts';
import { ConfirmedCredentials, Confirmation } from '../../hosts/following/confirmation.ts';
import { Follower, isRefusal } from '../../hosts/following/follower.ts';
import { FollowingLog } from '../../hosts/following/following-log.ts';
import { requireFollowable } from '../../hosts/following/lineage.ts';
import { HttpPrimary, type Primary } from '../../hosts/following/primary-client.ts';
import { takeBase } from '../../hosts/following/take-base.ts';
import { Forwarder } from '../../hosts/forwarding/forwarder.ts';
import { awaitOwnWrite, type CatchingUp } from '../../hosts/forwarding/own-writes.ts';
import type { HttpRequest, HttpResponse } from '../../http/message.ts';
import type { HostState, ReadinessDetails } from '../../http/services.ts';
import { withOwnership } from '../../store/directory.ts';
import { followerRecord, readHostRecord, writeHostRecord } from '../../store/hosts/host-record.ts';
import { type ReceivedBase, removeReceptions } from '../../store/hosts/install-base.ts';
import type { FollowingFigures } from '../../telemetry/host-metrics.ts';
import type { Catalog } from '../catalog.ts';
import type { Monitor } from '../catalog-monitor.ts';
import type { Context } from '../context.ts';
import { maxForwards } from '../engine/http-client.ts';
import type { Host } from './host.ts';
import { ALONE, type Membership } from './membership.ts';
import type { FollowOptions, ServeOptions } from '../server-options.ts';

/** Milliseconds for which queued pages are still written before a catalog is replaced. */
const REPLACE_GRACE_MS = 2000;

type FollowerHostOptions = Pick<ServeOptions, 'data' | 'basePath'> & {
  readonly follow: FollowOptions;
};

interface Parts {
  readonly log: Monitor['log'] & { info(message: string): void };
  /** Opens the catalog of the data directory. */
  readonly open: (membership: Membership) => Promise<Catalog>;
  /** Serves from a catalog from now on; from none while it is replaced. */
  readonly use: (catalog: Catalog | null) => void;
  /** The host to follow; the one at the address if left out. */
  readonly primary?: Primary;
}

export class FollowerHost implements Host {
  readonly #options: FollowerHostOptions;
  readonly #context: Pick<Context, 'disk'>;
  readonly #parts: Parts;
  readonly #log: FollowingLog;
  readonly #primary: Primary;
  readonly #origin: string;
  readonly #secret: string | null;
  readonly #confirmation: Confirmation;
  readonly #forwarder: Forwarder;
  readonly #stopped = new AbortController();
  readonly #catchingUp: CatchingUp = {
    reach: (sequence) => this.#catalog?.changes.feed.awaited.reachWrite(sequence),
    pullAccounts: () => this.#follower?.poll(),
  };
  #catalog: Catalog | null = null;
  #follower: Follower | null = null;
  /** Ends when no catalog is being opened or replaced. */
  #changing: Promise<void> = Promise.resolve();

  /** @throws CatalogError `usage`. */
  constructor(options: FollowerHostOptions, context: Context, parts: Parts) {
    const { follow, basePath } = options;
    const address = parseHostAddress(follow.address);
    if (address === null || address.basePath !== basePath) {
      throw new CatalogError(
        'usage',
        `--follow ${follow.address} must be the address of a host; both hosts need the same --base-path, and the address must end with it`,
      );
    }
    if (!follow.insecure) requireSecure(address);
    this.#options = options;
    this.#context = context;
    this.#parts = parts;
    this.#log = new FollowingLog(parts.log);
    this.#origin = address.origin;
    const token = () => readSecretFile(follow.tokenFile);
    const { version } = context;
    const { signal } = this.#stopped;
    this.#primary = parts.primary ?? new HttpPrimary({ address, token, version, signal });
    this.#secret = secretFingerprint(context.env['CATALOG_JWT_SECRET']);
    this.#confirmation = new Confirmation(follow.maxUnconfirmed);
    this.#forwarder = new Forwarder({
      maxOpen: maxForwards(context.env),
      warn: (message) => parts.log.warn(message),
    });
    // Reports a mistake at the start.
    token();
  }

  /** Null until the catalog is open. */
  readonly following = (): FollowingFigures | null => this.#follower?.figures ?? null;

  /** Why the host is not ready, in words for `/readyz`; null if it is. */
  readonly reason = (): string | null =>
    this.#follower === null
      ? 'the host is fetching a base from its primary'
      : this.#follower.reason();

  /**
   * Opens the catalog, if there is one, and checks the primary, if it answers.
   *
   * @throws CatalogError if this host may not follow it, and as `openCatalog`.
   */
  async begin(): Promise<void> {
    this.#requireNotPromoted();
    const base = join(this.#options.data, DATA_FILES.base);
    // A head without a base is an interrupted installation of a base, which is repeated.
    if (this.#context.disk.size(base) !== null) await this.#open();
    try {
      if (this.#follower === null) await this.#judgeFromNothing();
      else await this.#follower.poll();
    } catch (error) {
      if (isRefusal(error)) throw error;
      // The texts of the attempts that follow, so that the log does not report the reason twice.
      const state = this.#follower === null ? 'no base yet' : 'not following';
      this.#log.trouble(`${state}: ${messageOf(error)}`);
    }
  }

  /** @throws CatalogError `usage` if this host has taken the place of the one that it is to follow. */
  #requireNotPromoted(): void {
    const { data } = this.#options;
    const record = readHostRecord(this.#context.disk, data);
    const { address } = this.#primary;
    if (record?.role !== 'primary' || !record.predecessors.includes(address)) return;
    throw new CatalogError(
      'usage',
      `${data} was promoted to take the place of ${address}; start it without --follow`,
    );
  }

  /** Follows until {@link close}. @throws what opening the catalog throws. */
  async run(): Promise<void> {
    if (this.#catalog === null) await this.#bootstrap();
    while (!this.#stopped.signal.aborted) {
      const follower = this.#follower;
      if (follower === null) return;
      follower.start();
      await Promise.race([
        follower.needsBase,
        pause(Number.POSITIVE_INFINITY, this.#stopped.signal),
      ]);
      if (this.#stopped.signal.aborted) return;
      const base = await this.#retrying((state) => this.#take(state));
      if (base !== null) await this.#change(() => this.#replace(base));
    }
  }

  /** Nothing ends: requests under way may wait for change sets that are on their way. */
  readonly stop = async (): Promise<void> => {};

  /** Stops following. @param grace milliseconds for pages that wait. */
  async close(grace: number): Promise<void> {
    this.#stopped.abort();
    // A failure is thrown by run().
    await this.#changing.catch(() => {});
    await this.#release(grace);
  }

  /** Opens or replaces the catalog, unless this host is to stop; {@link close} waits for the end. */
  #change(work: () => Promise<void>): Promise<void> {
    if (!this.#stopped.signal.aborted) this.#changing = work();
    return this.#changing;
  }

  /** Closes the catalog, if one is open. */
  async #release(grace: number): Promise<void> {
    const catalog = this.#catalog;
    this.#catalog = null;
    this.#parts.use(null);
    await this.#follower?.stop();
    await catalog?.close(grace);
  }

  async #open(): Promise<void> {
    const catalog = await this.#parts.open({
      ...ALONE,
      follows: true,
      confirmed: (own) => new ConfirmedCredentials(own, this.#confirmation),
      deliveries: 'never',
      forwarding: () => (request) => this.#forward(request),
      details: () => detailsOf(this.following()),
    });
    const { data } = this.#options;
    this.#catalog = catalog;
    // Only now does this process own the directory again.
    this.#requireNotPromoted();
    this.#follower = new Follower({
      primary: this.#primary,
      store: catalog.store,
      role: catalog.role,
      secret: this.#secret,
      confirmation: this.#confirmation,
      replaceCredentials: (files) => replaceCredentialFiles(this.#context.disk, data, files),
      log: this.#log,
    });
    this.#parts.use(catalog);
  }

  /** Takes the first base. */
  async #bootstrap(): Promise<void> {
    const { disk } = this.#context;
    const { data } = this.#options;
    const base = await withOwnership(data, 'serve', async () => {
      await removeReceptions(disk, data);
      const received = await this.#retrying((state) => this.#take(state));
      await received?.install();
      return received;
    });
    if (base !== null) await this.#change(() => this.#open());
  }

  async #take(state: HostState): Promise<ReceivedBase> {
    const { disk } = this.#context;
    const { data: directory } = this.#options;
    const { base_bytes: expected } = state;
    const record = this.#catalog?.role.record ?? readHostRecord(disk, directory);
    const at = this.#catalog?.store ?? null;
    requireFollowable({ record, at, secret: this.#secret }, state, this.#primary.address);
    if (this.#catalog === null) {
      const { files } = await this.#primary.credentials();
      await replaceCredentialFiles(disk, directory, files);
      // Before the base, so that no start treats the directory as one that may be written.
      await writeHostRecord(disk, directory, followerRecord(this.#primary.address, state));
    }
    const { log } = this.#parts;
    const signal = this.#stopped.signal;
    return takeBase({ primary: this.#primary, disk, directory, expected, log, signal });
  }

  /** Closes the catalog, puts the base in its place, and opens it again. */
  async #replace(base: ReceivedBase): Promise<void> {
    await this.#release(REPLACE_GRACE_MS);
    await withOwnership(this.#options.data, 'serve', async () => {
      // Between the two, the directory had no owner.
      this.#requireNotPromoted();
      await base.install();
    });
    if (!this.#stopped.signal.aborted) await this.#open();
  }

  /** @returns null if the server was stopped before `work` succeeded. */
  async #retrying<T>(work: (state: HostState) => Promise<T>): Promise<T | null> {
    const { signal } = this.#stopped;
    const backoff = new Backoff();
    while (!signal.aborted) {
      try {
        return await work(await this.#primary.state(null));
      } catch (error) {
        if (signal.aborted) return null;
        this.#log.trouble(`no base yet: ${messageOf(error)}`);
      }
      await pause(backoff.delay(), signal);
    }
    return null;
  }

  async #judgeFromNothing(): Promise<void> {
    const record = readHostRecord(this.#context.disk, this.#options.data);
    const state = await this.#primary.state(null);
    requireFollowable({ record, at: null, secret: this.#secret }, state, this.#primary.address);
  }

  async #forward(request: HttpRequest): Promise<HttpResponse> {
    const { address, forward } = this.#options.follow;
    if (!forward) {
      throw new CatalogError('not_primary', `this host follows ${address}; send the request there`);
    }
    const response = await this.#forwarder.forward(request, this.#origin);
    await awaitOwnWrite(request, response, this.#catchingUp, this.#stopped.signal);
    return response;
  }
}

function detailsOf(figures: FollowingFigures | null): ReadinessDetails {
  if (figures === null) return {};
  const { behind, behindMs, connected } = figures;
  const behind_seconds = Math.round(behindMs) / 1000;
  return { following: { behind_change_sets: behind, behind_seconds, connected } };
}
