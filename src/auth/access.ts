/**
 * Accounts and revocations, in their own file: `access.json` in the data directory.
 *
 * Invariants:
 * 1. The file is replaced as a whole or not at all. A change reads and writes it under
 *    `access.lock`, so commands and a running server can change it at the same time.
 * 2. A file that is damaged, or that others may read, is refused; it never counts as empty.
 * 3. A subject's tokens that were issued up to the second of its revocation are void, and every
 *    further revocation names a second that voids the tokens issued since (see `endTokens`).
 */
import { join } from 'node:path';
import * as v from 'valibot';
import { DATA_FILES } from '../data-files.ts';
import type { Disk } from '../disk/disk.ts';
import type { FileContent } from '../disk/watched-file.ts';
import { CatalogError } from '../errors.ts';
import { FIRST_FAULT } from '../json/first-fault.ts';
import { MAX_LIFETIME_S } from './duration.ts';
import { hashFault, isPasswordHash } from './passwords.ts';
import { exclusively, privateFile, readPrivate } from './private-file.ts';
import { changeFile, type SharedFiles } from './sharing/shared-files.ts';
import { ROLES } from './roles.ts';
import { isoSeconds, toIso, wholeSeconds } from './time.ts';

/** Accounts and revocations together. The file is read and written as a whole. */
const MAX_ENTRIES = 100_000;

const account = v.strictObject({
  name: v.pipe(v.string(), v.minLength(1)),
  role: v.picklist(ROLES),
  disabled: v.boolean(),
  created: isoSeconds,
  /** argon2id in the PHC string format, with its parameters and its salt. */
  password: v.pipe(v.string(), v.check(isPasswordHash)),
});

const accessFile = v.strictObject({
  users: v.pipe(
    v.array(account),
    v.check((users) => new Set(users.map(({ name }) => name)).size === users.length),
  ),
  revoked_subjects: v.array(v.strictObject({ subject: v.string(), until: isoSeconds })),
  revoked_tokens: v.array(v.strictObject({ jti: v.string(), expires: v.nullable(isoSeconds) })),
});

/** `created` in seconds since the epoch. */
export type Account = Readonly<v.InferOutput<typeof account>>;

/** Times are seconds since the epoch. */
export interface Access {
  readonly users: ReadonlyMap<string, Account>;
  /** The `iat` up to which the tokens of a subject are void. */
  readonly subjects: ReadonlyMap<string, number>;
  /** When a revoked token expires, by its `jti`; null if unknown. */
  readonly tokens: ReadonlyMap<string, number | null>;
}

/** {@link Access} that may be changed. */
export interface AccessDraft extends Access {
  readonly users: Map<string, Account>;
  readonly subjects: Map<string, number>;
  readonly tokens: Map<string, number | null>;
}

export const NO_ACCESS: Access = { users: new Map(), subjects: new Map(), tokens: new Map() };

/** @returns the path of the accounts of a data directory, a file that may not exist. */
export function accessPath(directory: string): string {
  return join(directory, DATA_FILES.access);
}

/**
 * @param read see {@link readPrivate}.
 * @returns null if there is no file.
 * @throws CatalogError `access_file`.
 */
export function readAccess(path: string, read?: () => FileContent | null): Access | null {
  const content = readPrivate({ path, code: 'access_file' }, read);
  if (content === null) return null;
  const parsed = v.safeParse(accessFile, content.json, FIRST_FAULT);
  if (!parsed.success) {
    throw new CatalogError(
      'access_file',
      `${path} is not a file of accounts and revocations; restore it from a backup`,
    );
  }
  const { users, revoked_subjects: subjects, revoked_tokens: tokens } = parsed.output;
  for (const { name, password } of users) requireAffordable(path, name, password);
  return {
    users: new Map(users.map((each) => [each.name, each])),
    subjects: new Map(subjects.map(({ subject, until }) => [subject, until])),
    tokens: new Map(tokens.map(({ jti, expires }) => [jti, expires])),
  };
}

/** A login would take this much. @throws CatalogError `access_file`. */
function requireAffordable(path: string, name: string, hash: string): void {
  const fault = hashFault(hash);
  if (fault === null) return;
  throw new CatalogError(
    'access_file',
    `${path}: the hash of the password of ${name} ${fault}; restore it from a backup`,
  );
}

interface ChangeOptions<T> {
  /** Milliseconds since the epoch. */
  readonly clock?: (() => number) | undefined;
  /**
   * Called with the result of the change before it is written. If it fails, the file stays as it
   * was.
   */
  readonly announce?: ((result: T) => Promise<void>) | undefined;
  /** The original of the file, if hosts share it. */
  readonly shared?: SharedFiles | undefined;
}

/**
 * Changes the file while no other process can. The change is durable when this returns.
 *
 * @param change works on a draft, with `now` in whole seconds since the epoch. If it throws, the
 *   file stays as it was.
 * @throws CatalogError `access_file`, `durability_unknown`, `busy` if another change does not end,
 *   and what `change`, `announce` and {@link SharedFiles} throw.
 */
export function changeAccess<T>(
  disk: Disk,
  directory: string,
  change: (draft: AccessDraft, now: number) => T,
  { clock = Date.now, announce, shared }: ChangeOptions<T> = {},
): Promise<T> {
  const file = privateFile(directory, DATA_FILES.access);
  return exclusively(directory, async () => {
    await shared?.pull();
    const before = readAccess(file.path) ?? NO_ACCESS;
    const { users, subjects, tokens } = before;
    const draft = {
      users: new Map(users),
      subjects: new Map(subjects),
      tokens: new Map(tokens),
    };
    // Read under the lock: otherwise a token could be issued after this second, before the change.
    const now = wholeSeconds(clock());
    const result = change(draft, now);
    forgetExpired(draft, now);
    requireRoom(file.path, draft, before);
    await announce?.(result);
    await changeFile(disk, file, encode(draft), shared);
    return result;
  });
}

/** Removes revocations of tokens that have all expired. */
function forgetExpired({ subjects, tokens }: AccessDraft, now: number): void {
  // A minute is more than any leeway between clocks.
  const past = now - 60;
  for (const [subject, until] of subjects) {
    if (until + MAX_LIFETIME_S < past) subjects.delete(subject);
  }
  for (const [jti, expires] of tokens) {
    if (expires !== null && expires < past) tokens.delete(jti);
  }
}

/**
 * Ending access always has room: it adds at most one entry for each account.
 *
 * @throws CatalogError `access_file` if the file would have too many entries.
 */
function requireRoom(path: string, { users, subjects, tokens }: Access, before: Access): void {
  if (users.size <= before.users.size && tokens.size <= before.tokens.size) return;
  if (users.size + subjects.size + tokens.size <= MAX_ENTRIES) return;
  throw new CatalogError(
    'access_file',
    `${path} holds ${MAX_ENTRIES} accounts and revocations, which is the maximum; revoke all tokens with keys rotate --overlap 0s, then set its revoked_tokens to [] and remove its member sha256`,
  );
}

function encode({ users, subjects, tokens }: Access): object {
  return {
    users: [...users.values()].map((each) => ({ ...each, created: toIso(each.created) })),
    revoked_subjects: [...subjects].map(([subject, until]) => ({ subject, until: toIso(until) })),
    revoked_tokens: [...tokens].map(([jti, expires]) => ({
      jti,
      expires: expires === null ? null : toIso(expires),
    })),
  };
}
