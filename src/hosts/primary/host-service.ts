/**
 * What a host sends to its followers (spec 15.10): its state, its accounts and keys, a base, and
 * its change sets as they are stored.
 *
 * Bases and streams are generated while they are sent: for a slow follower, a piece of a base or the
 * bytes of one change set are in memory. The number of each that may be under way is bounded.
 */
import type {
  CredentialFiles,
  WatchedCredentialFiles,
} from '../../auth/sharing/credential-files.ts';
import { CatalogError, hasCode } from '../../errors.ts';
import { FairQueue } from '../../fair-queue.ts';
import type { BodyStream } from '../../http/message.ts';
import type { HostService, HostState, KnownEpoch } from '../../http/services.ts';
import { Places } from '../../places.ts';
import { inTurns } from '../../slices.ts';
import { baseSlices } from '../../store/files/base.ts';
import { SCHEMA_VERSION } from '../../store/files/schema.ts';
import type { Store } from '../../store/store.ts';
import { closable, piecesOf } from '../../streams.ts';
import type { HostRole } from './host-role.ts';
import { withWaits } from './waits.ts';

/** Bases that are sent at the same time. Each keeps a snapshot of the rows in memory. */
const MAX_BASES = 2;

/** Streams of change sets that are open. */
const MAX_STREAMS = 32;

/** Milliseconds without a change set after which a stream gets an empty line. */
const EMPTY_LINE_MS = 2000;

/** Bytes of one piece of a change set. */
const PIECE_BYTES = 64 * 1024;

const EMPTY_LINE = '\n';

/** Waits for commits; see `Arrivals` of the changes. */
interface Arrivals {
  readonly closed: boolean;
  past(after: number, milliseconds: number, signal?: AbortSignal): Promise<boolean>;
}

interface Options {
  readonly store: Pick<
    Store,
    'sequence' | 'digest' | 'size' | 'snapshot' | 'encodedSince' | 'oldest'
  >;
  readonly role: HostRole;
  readonly files: WatchedCredentialFiles;
  /** See `secretFingerprint`. */
  readonly secret: string | null;
  readonly arrivals: Arrivals;
  /** Whether other hosts may get accounts and keys, with which they can sign tokens. */
  readonly givesCredentials: boolean;
  /** {@link EMPTY_LINE_MS} if left out. */
  readonly emptyLineMs?: number | undefined;
}

export class Hosts implements HostService {
  readonly #options: Options;
  readonly #bases = placesFor(MAX_BASES, 'bases are being sent already; try again');
  readonly #streams = placesFor(MAX_STREAMS, 'hosts follow already; try again');
  /** One change set is decoded at a time, for all streams. */
  readonly #reads = new FairQueue<object>();

  constructor(options: Options) {
    this.#options = options;
  }

  /** Streams of change sets that are open. */
  get followers(): number {
    return this.#streams.taken;
  }

  async state(known: KnownEpoch | null): Promise<HostState> {
    const { store, role, files, secret } = this.#options;
    if (known !== null) await role.learn(known);
    const { history, epochs, primary, predecessors, role: own } = await role.shared();
    return {
      history,
      epochs,
      role: role.isPrimary || own !== 'primary' ? own : 'follower',
      primary: role.isPrimary ? null : primary,
      predecessors,
      schema: SCHEMA_VERSION,
      sequence: store.sequence,
      digest: store.digest,
      base_bytes: store.size.base,
      credentials: files.current().digest,
      secret,
    };
  }

  credentials(): { readonly digest: string; readonly files: CredentialFiles } {
    const { files, givesCredentials } = this.#options;
    if (givesCredentials) return files.current();
    throw new CatalogError(
      'forbidden',
      'no host may follow this one, because it would get its accounts and keys; to allow that, start this one with --followers',
    );
  }

  base(): BodyStream {
    // Taken before the first piece: many may be asked for before one is sent.
    const leave = this.#bases.take(null);
    return closable(this.#slices(), new AbortController(), async () => leave());
  }

  changes(since: number, isAllowed: () => Promise<boolean>): BodyStream {
    const { store } = this.#options;
    // The call throws if they are not kept; reading begins when the first change set is asked for.
    if (since !== store.sequence) void store.encodedSince(since);
    const leave = this.#streams.take(null);
    const gone = new AbortController();
    return closable(this.#changes(since, isAllowed, gone.signal), gone, async () => leave());
  }

  async *#slices(): AsyncGenerator<Uint8Array, void, void> {
    for await (const slice of inTurns(baseSlices(this.#options.store.snapshot()))) {
      yield* piecesOf(slice, PIECE_BYTES);
    }
  }

  /** The change sets after a sequence, without the decoded ones, which take far more memory. */
  async *#lines(after: number): AsyncGenerator<Line, void, void> {
    const source = this.#options.store.encodedSince(after)[Symbol.asyncIterator]();
    for (;;) {
      const read = await this.#reads.run(source, () => source.next());
      if (read.done === true) return;
      const { bytes, changeSet } = read.value;
      yield { sequence: changeSet.sequence, bytes };
    }
  }

  async *#changes(
    since: number,
    isAllowed: () => Promise<boolean>,
    gone: AbortSignal,
  ): AsyncGenerator<string | Uint8Array, void, void> {
    const { store, role, arrivals, emptyLineMs = EMPTY_LINE_MS } = this.#options;
    let at = since;
    // Sent at once, so that the follower gets the headers of the response.
    yield EMPTY_LINE;
    let due = performance.now() + emptyLineMs;
    while (!arrivals.closed && !gone.aborted && role.isPrimary) {
      try {
        if (at < store.sequence) {
          for await (const next of withWaits(this.#lines(at), emptyLineMs)) {
            if (next !== null) {
              at = next.sequence;
              yield* piecesOf(next.bytes, PIECE_BYTES);
            }
            if (gone.aborted || arrivals.closed) return;
            if (next !== null && performance.now() < due) continue;
            // A large change set takes many seconds to read, and a silent stream is given up. A
            // follower that is always behind never gets to the wait below.
            if (!(await isAllowed())) return;
            yield EMPTY_LINE;
            due = performance.now() + emptyLineMs;
          }
        }
      } catch (error) {
        // The follower was too slow. It will connect again, and get a 410.
        if (hasCode(error, 'history_gone')) return;
        throw error;
      }
      if (await arrivals.past(at, due - performance.now(), gone)) continue;
      if (gone.aborted || !(await isAllowed())) return;
      yield EMPTY_LINE;
      due = performance.now() + emptyLineMs;
    }
  }
}

/** A change set as it is stored. */
interface Line {
  readonly sequence: number;
  readonly bytes: Uint8Array;
}

/** @param what follows the number in the refusal. */
function placesFor(total: number, what: string): Places {
  return new Places({
    total,
    share: total,
    refusal: () => new CatalogError('busy', `${total} ${what}`),
  });
}
