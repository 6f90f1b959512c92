/**
 * Every failure by its code (spec 3.15), with the status of an HTTP response. docs/errors.md has the
 * same table.
 */
export const CODES = {
  malformed_query: { status: 400, meaning: 'a query parameter is malformed or repeated' },
  malformed_body: { status: 400, meaning: 'the body is not JSON in UTF-8' },
  malformed_request: { status: 400, meaning: 'the request is not valid HTTP' },
  unauthorized: { status: 401, meaning: 'no valid token, user name or password' },
  forbidden: { status: 403, meaning: "the token's role does not allow the operation" },
  not_found: { status: 404, meaning: 'the path, item or parent does not exist' },
  method_not_allowed: { status: 405, meaning: 'the path does not have the method' },
  not_acceptable: { status: 406, meaning: 'Accept excludes every representation' },
  referred_to: { status: 409, meaning: 'other rows refer to the row' },
  changed_since: {
    status: 409,
    meaning: 'rows have changed since the writes that are to be undone',
  },
  last_admin: { status: 409, meaning: 'no active account with the role admin would be left' },
  gone: { status: 410, meaning: 'the item was deleted' },
  history_gone: { status: 410, meaning: 'the requested changes are no longer kept' },
  precondition_failed: { status: 412, meaning: 'If-Match or If-None-Match failed' },
  body_too_large: { status: 413, meaning: 'the body exceeds the limit' },
  unsupported_media_type: { status: 415, meaning: 'the body is not declared as JSON' },
  invalid: { status: 422, meaning: 'the body is JSON but fails validation' },
  key_reused: {
    status: 422,
    meaning: 'the idempotency key was used with another request, or for an import of another host',
  },
  login_throttled: { status: 429, meaning: 'too many login attempts' },
  too_many_imports: { status: 429, meaning: 'too many imports are unfinished' },
  too_many_webhooks: { status: 409, meaning: 'the maximum number of webhooks exists already' },
  too_many_builds: { status: 429, meaning: 'too many page builds are unfinished' },
  integrity: { status: 422, meaning: 'a database step failed: a reference or a rule' },
  write_refused: { status: 500, meaning: 'the disk refused the write; nothing changed' },
  internal: { status: 500, meaning: 'an unexpected fault' },
  durability_unknown: { status: 500, meaning: 'it is unknown whether a write is on the disk' },
  second_writer: { status: 500, meaning: 'another process writes the store; the server stops' },
  busy: { status: 503, meaning: 'the server has too much to do' },
  primary_unreachable: {
    status: 503,
    meaning: 'the primary did not accept the request; nothing changed',
  },
  write_unknown: { status: 503, meaning: 'it is not known yet whether a write takes effect' },
  cut_off: { status: 503, meaning: 'the host is cut off from its primary' },
  not_primary: { status: 503, meaning: 'the host does not accept writes; another host does' },
  store_closed: { status: 503, meaning: 'the server is shutting down' },
  log_unavailable: {
    status: 503,
    meaning: 'the log that hosts share cannot be used; nothing changed',
  },
  log_missing: {
    status: 500,
    meaning: 'the host shares its log, and the command does not name it',
  },
  history_differs: {
    status: 500,
    meaning: 'a change set does not follow the last one of the store',
  },
  store_locked: { status: 500, meaning: 'another process owns the data directory' },
  store_damaged: { status: 500, meaning: 'a file of the store is damaged' },
  store_unreadable: { status: 500, meaning: 'a file of the store cannot be read' },
  store_missing: { status: 500, meaning: 'the data directory holds no store' },
  store_not_empty: { status: 500, meaning: 'the command needs an unused directory' },
  schema_version: { status: 500, meaning: 'the store has another schema version' },
  check_failed: { status: 500, meaning: 'the check of a store found problems' },
  backup_failed: { status: 500, meaning: 'a backup could not be written or read' },
  encryption: {
    status: 500,
    meaning: 'a key file cannot be used, or what it encrypted cannot be decrypted',
  },
  archive_failed: { status: 500, meaning: 'an archive cannot be reached or read' },
  archive_refused: {
    status: 500,
    meaning: 'the archive is of another history, or another server writes it',
  },
  export_failed: { status: 500, meaning: 'an export could not be written' },
  import_failed: { status: 500, meaning: 'a file could not be imported' },
  key_file: { status: 500, meaning: 'the signing keys cannot be used' },
  access_file: { status: 500, meaning: 'accounts and revocations cannot be used' },
  account: { status: 500, meaning: 'an account cannot be changed as requested' },
  page_failed: { status: 500, meaning: 'a page could not be rendered or written' },
  listen: { status: 500, meaning: 'the server cannot listen on the address' },
  not_ready: { status: 500, meaning: 'a server is not ready, or does not answer' },
  usage: { status: 500, meaning: 'the command line is wrong' },
} as const;

export type Code = keyof typeof CODES;

/** Messages by attribute path, as in the `fields` member of a 422 response. */
export type FieldErrors = Readonly<Record<string, readonly string[]>>;

interface Details {
  readonly cause?: unknown;
  /** The messages for each attribute, for `invalid`. */
  readonly fields?: FieldErrors;
  /** Response headers that belong to the failure, such as `Allow`. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A failure with a code from {@link CODES} and a message that a client may see. */
export class CatalogError extends Error {
  readonly code: Code;
  readonly fields: FieldErrors | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: Code, message: string, details: Details = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'CatalogError';
    this.code = code;
    this.fields = details.fields;
    this.headers = details.headers ?? {};
  }

  /** HTTP status code. */
  get status(): number {
    return CODES[this.code].status;
  }

  /** Exit status of a command that ends with this failure (spec 8.8). */
  get exit(): number {
    return this.code === 'usage' ? 2 : 1;
  }
}

/** Whether an error is a failure with this code. */
export function hasCode(error: unknown, code: Code): error is CatalogError {
  return error instanceof CatalogError && error.code === code;
}

/** Whether the process must stop writing: only a restart can find out what is on the disk. */
export function endsWriting(error: unknown): boolean {
  return hasCode(error, 'durability_unknown') || hasCode(error, 'second_writer');
}

/** Whether a write that failed with this error may have been carried out. */
export function isOutcomeUnknown(error: unknown): boolean {
  return hasCode(error, 'durability_unknown') || hasCode(error, 'write_unknown');
}

/**
 * The code of an error of the operating system, such as ENOSPC; null for every other error. Errors
 * of the runtime's own checks have codes too, such as ERR_INVALID_ARG_TYPE.
 */
export function systemErrorCode(error: unknown): string | null {
  if (!(error instanceof Error) || error instanceof CatalogError || !('code' in error)) return null;
  const { code } = error;
  return typeof code === 'string' && /^E(?!RR_)/.test(code) ? code : null;
}

/**
 * The error for an item that does not exist.
 *
 * @param where what follows in the message, such as " of SPU 1".
 */
export function missingItem(label: string, id: number, where = ''): CatalogError {
  // A number beyond the safe integers is not the one that the client sent.
  const which = Number.isSafeInteger(id) ? `${label} ${id}` : `${label} with such a large id`;
  return new CatalogError('not_found', `there is no ${which}${where}`);
}

/**
 * What the JavaScript engine appends to the messages of failed fetches: the address, which a client
 * must not learn and an operator is told otherwise, and a hint for programmers.
 */
const FETCH_DETAILS =
  /(?: fetching "[^"]*")?(?:\.? Is the computer able to access the url\?)?(?:\.? For more information, pass `verbose: true` in the second argument to fetch\(\))?$/;

/** The reasons for errors of file systems that the runtime calls unknown (Linux: errno(3)). */
const REASONS: Readonly<Record<string, string>> = {
  EBADMSG: 'bad message',
  EDQUOT: 'disk quota exceeded',
  ENOKEY: 'required key not available',
  ESTALE: 'stale file handle',
  EUCLEAN: 'structure needs cleaning',
};

/** What the HTTP clients of the runtime say about an address that serves something else. */
const MISTAKEN_ADDRESSES: readonly (readonly [RegExp, string])[] = [
  [/^(?:Malformed_HTTP_Response$|Parse Error: Expected HTTP\/)/, 'the response is not HTTP'],
  [/WRONG_VERSION_NUMBER/, 'the server does not speak TLS on this port'],
];

/** The text of anything thrown, for a message to the operator. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const message = error.message.replace(FETCH_DETAILS, '');
  const mistaken = MISTAKEN_ADDRESSES.find(([pattern]) => pattern.test(message));
  if (mistaken !== undefined) return mistaken[1];
  const reason = REASONS[systemErrorCode(error) ?? ''];
  return reason === undefined ? message : message.replace(': unknown error', `: ${reason}`);
}

/**
 * The same for a message to clients: an error of the operating system without the paths in it, such
 * as "ENOSPC: no space left on device, open". What the server itself words has none.
 */
export function publicMessageOf(error: unknown): string {
  const message = messageOf(error);
  const code = systemErrorCode(error);
  if (code === null) return message;
  const [begin = ''] = message.split(" '", 1);
  // A text with advice for the operator may name a path anywhere.
  return begin.startsWith(`${code}: `) ? begin : code;
}

/** What a message does not show as it is (`escaped`): a line end, or what moves the cursor. */
const INVISIBLE = /[\p{Cc}\p{Cf}\u2028\u2029]/u;

/**
 * A word of a command in a message, quoted if a POSIX shell would read it in another way. A text
 * that a message would not show as it is becomes the output of printf(1), its bytes octal numbers.
 */
export function shellWord(text: string): string {
  if (INVISIBLE.test(text)) return `"$(printf '${text.replace(/[^\w@+=:,./ ]/gu, octal)}')"`;
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function octal(char: string): string {
  return [...Buffer.from(char)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('');
}
