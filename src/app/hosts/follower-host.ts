/**
 * A server that follows another host (spec 15.10 to 15.13): when it fetches a base, and when it
 * opens its catalog.
 *
 * Order of a start: open the catalog, if there is one; check the primary, if it answers; take a
 * base and open the catalog, if there was none; follow. If the primary no longer keeps the next
 * change set: fetch a base beside the open catalog, close it, put the base in its place, open it
 * again.
 *
 * Invariant: when {@link FollowerHost.run} has ended, nothing follows, and no catalog is being
 * opened or closed.
 */
import { join } from 'node:path';
import { replaceCredentialFiles, secretFingerprint } from '../../auth/sharing/credential-files.ts';
import { DATA_FILES } from '../../data-files.ts';
import { removeTemporaries } from '../../disk/durable-file.ts';
import { readSecretFile } from '../../disk/secret-file.ts';
import { pause } from '../../delay.ts';
import { CatalogError, messageOf } from '../../errors.ts';
import { type HostAddress, parseHostAddress, requireSecure } from '../../hosts/address.ts';
import { ConfirmedCredentials, Confirmation } from '../../hosts/following/confirmation.ts';
import { fetchBase } from '../../hosts/following/fetch-base.ts';
import { Follower, isRefusal } from '../../hosts/following/follower.ts';
import { FollowingLog } from '../../hosts/following/following-log.ts';
import { type FollowerState, requireFollowable } from '../../hosts/following/lineage.ts';
import { HttpPrimary, type Primary } from '../../hosts/following/primary-client.ts';
import { primaryForwarding } from '../../hosts/following/primary-forwarding.ts';
import { Forwarder } from '../../hosts/forwarding/forwarder.ts';
import type { ReadinessDetails } from '../../http/services.ts';
import { withOwnership } from '../../store/directory.ts';
import { readHostRecord } from '../../store/hosts/host-record.ts';
import type { ReceivedBase } from '../../store/hosts/install-base.ts';
import type { FollowingFigures } from '../../telemetry/host-metrics.ts';
import { maxForwards } from '../engine/http-client.ts';
import type { FollowOptions } from '../server-options.ts';
import type { Host, HostParts } from './host.ts';
import { ALONE, type Membership } from './membership.ts';

/** Milliseconds for which queued pages are still written before a catalog is replaced. */
const REPLACE_GRACE_MS = 2000;

export class FollowerHost implements Host {
  readonly #parts: HostParts;
  readonly #log: FollowingLog;
  readonly #primary: Primary;
  readonly #secret: string | null;
  readonly #confirmation: Confirmation;
  readonly #membership: Membership;
  /** Follows for the catalog that was opened last; null until one was. */
  #follower: Follower | null = null;

  /**
   * @param primary the host to follow; the one at the address if left out.
   * @throws CatalogError `usage`.
   */
  constructor(follow: FollowOptions, parts: HostParts, primary?: Primary) {
    const { options, context, observability, stop: signal } = parts;
    const address = followedAddress(follow, options.basePath);
    const token = () => readSecretFile(follow.tokenFile);
    const { version } = context;
    this.#parts = parts;
    this.#log = new FollowingLog(observability.log);
    this.#primary = primary ?? new HttpPrimary({ address, token, version, signal });
    this.#secret = secretFingerprint(context.env['CATALOG_JWT_SECRET']);
    this.#confirmation = new Confirmation(follow.maxUnconfirmed);
    this.#membership = this.#membershipOf(follow, address);
    // Reports a mistake at the start.
    token();
  }

  #membershipOf({ address, forward }: FollowOptions, { origin }: HostAddress): Membership {
    const { context, observability, current, stop: signal } = this.#parts;
    const forwarder = new Forwarder({
      maxOpen: maxForwards(context.env),
      warn: (message) => observability.log.warn(message),
    });
    const forwarding = primaryForwarding({
      address,
      origin,
      forwarder: forward ? forwarder : null,
      reach: (sequence) => current.catalog?.changes.feed.awaited.reachWrite(sequence),
      pullAccounts: () => this.#follower?.poll(),
      signal,
    });
    return {
      ...ALONE,
      follows: true,
      // Only now does this process own the directory.
      join: async () => this.#requireNotPromoted(),
      confirmed: (own) => new ConfirmedCredentials(own, this.#confirmation),
      deliveries: 'never',
      forwarding: () => forwarding,
      details: () => detailsOf(this.following()),
    };
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
    const { options, context, stop } = this.#parts;
    this.#requireNotPromoted();
    const base = join(options.data, DATA_FILES.base);
    // A head without a base is an interrupted installation of a base, which is repeated.
    if (context.disk.size(base) !== null) await this.#open();
    try {
      await (this.#follower?.poll() ?? this.#judgeFromNothing());
    } catch (error) {
      if (isRefusal(error)) throw error;
      if (stop.aborted) return;
      // The texts of the attempts that follow, so that the log does not report the reason twice.
      const state = this.#follower === null ? 'no base yet' : 'not following';
      this.#log.trouble(`${state}: ${messageOf(error)}`);
    }
  }

  /** Follows until the server is to end. @throws what opening the catalog throws. */
  async run(): Promise<void> {
    const { stop } = this.#parts;
    if (this.#follower === null) await this.#bootstrap();
    try {
      while (this.#follower !== null && !stop.aborted) {
        this.#follower.start();
        await Promise.race([this.#follower.needsBase, pause(Number.POSITIVE_INFINITY, stop)]);
        const base = await this.#fetchBase();
        if (base !== null) await this.#replaceBy(base);
      }
    } finally {
      await this.#follower?.stop();
    }
  }

  /** Takes the first base, and opens the catalog. */
  async #bootstrap(): Promise<void> {
    const { options, context, stop } = this.#parts;
    const base = await withOwnership(options.data, 'serve', async () => {
      // Left by an interrupted reception of a base.
      await removeTemporaries(context.disk, options.data);
      const received = await this.#fetchBase();
      await received?.install();
      return received;
    });
    if (base !== null && !stop.aborted) await this.#open();
  }

  /** Closes the catalog, puts the base in its place, and opens it again. */
  async #replaceBy(base: ReceivedBase): Promise<void> {
    const { options, stop } = this.#parts;
    try {
      if (stop.aborted) return;
      await this.#release();
      await withOwnership(options.data, 'serve', async () => {
        // Between the two, the directory had no owner.
        this.#requireNotPromoted();
        await base.install();
      });
    } finally {
      // Removes nothing if the base is in its place.
      await base.abandon();
    }
    if (!stop.aborted) await this.#open();
  }

  /** Closes the catalog, so that a base can take its place. */
  async #release(): Promise<void> {
    const { current } = this.#parts;
    const { catalog } = current;
    current.use(null);
    await this.#follower?.stop();
    await catalog?.close(REPLACE_GRACE_MS);
  }

  async #open(): Promise<void> {
    const { options, context, current } = this.#parts;
    const catalog = await current.open(this.#membership);
    this.#follower = new Follower({
      primary: this.#primary,
      store: catalog.store,
      role: catalog.role,
      secret: this.#secret,
      confirmation: this.#confirmation,
      replaceCredentials: (files) => replaceCredentialFiles(context.disk, options.data, files),
      log: this.#log,
    });
  }

  /** @throws CatalogError `usage` if this host has taken the place of the one that it is to follow. */
  #requireNotPromoted(): void {
    const { options, context } = this.#parts;
    const record = readHostRecord(context.disk, options.data);
    const { address } = this.#primary;
    if (record?.role !== 'primary' || !record.predecessors.includes(address)) return;
    throw new CatalogError(
      'usage',
      `${options.data} was promoted to take the place of ${address}; start it without --follow`,
    );
  }

  #fetchBase(): Promise<ReceivedBase | null> {
    const { options, context } = this.#parts;
    return fetchBase({
      primary: this.#primary,
      disk: context.disk,
      directory: options.data,
      own: () => this.#own(),
      log: this.#log,
      signal: this.#parts.stop,
    });
  }

  async #judgeFromNothing(): Promise<void> {
    const own = this.#own();
    requireFollowable(own, await this.#primary.state(null), this.#primary.address);
  }

  #own(): FollowerState {
    const { options, context, current } = this.#parts;
    const { catalog } = current;
    const record = catalog?.role.record ?? readHostRecord(context.disk, options.data);
    return { record, at: catalog?.store ?? null, secret: this.#secret };
  }
}

function followedAddress({ address: text, insecure }: FollowOptions, basePath: string) {
  const address = parseHostAddress(text);
  if (address === null || address.basePath !== basePath) {
    throw new CatalogError(
      'usage',
      `--follow ${text} must be the address of a host; both hosts need the same --base-path, and the address must end with it`,
    );
  }
  if (!insecure) requireSecure(address);
  return address;
}

function detailsOf(figures: FollowingFigures | null): ReadinessDetails {
  if (figures === null) return {};
  const { behind, behindMs, connected } = figures;
  const behind_seconds = Math.round(behindMs) / 1000;
  return { following: { behind_change_sets: behind, behind_seconds, connected } };
}
