/**
 * Who is signed in. The token is in sessionStorage, so it is one tab's and ends with it. While the
 * user works it is renewed; when the server refuses it, requests wait until a user signs in.
 */
import { computed, signal } from '@preact/signals';
import { BASE_PATH } from '../base.ts';
import { answer } from './answer.ts';
import { endEarly, SESSION_KEY, takeEarly } from '../start/early-requests.ts';
import { tabStorage } from '../start/storage.ts';
import { delayOf, waitThrottled } from '../throttled.ts';
import type { Role } from './types.ts';

/** How long a token lives; a longer pause asks for the password again. */
const LIFETIME = '2h';

/** A token younger than this is not renewed, in milliseconds. */
const RENEW_AFTER_MS = 10 * 60_000;

/** How often it is looked whether a renewal is due, in milliseconds. */
const LOOK_MS = 30_000;

interface Session {
  readonly token: string;
  readonly subject: string;
  readonly role: Role;
  readonly jti: string;
  /** Milliseconds since the epoch. */
  readonly issued: number;
}

const stored = signal<Session | null>(read(tabStorage.getItem(SESSION_KEY)));

/** The account that is signed in; null before that, and after signing out. */
export const session = computed(() => stored.value);

/** Whether the token was refused: the form is shown over what the user was doing. */
export const expired = signal(false);

export const mayWrite = computed(() => {
  const role = stored.value?.role;
  return role === 'editor' || role === 'admin';
});

export const isAdmin = computed(() => stored.value?.role === 'admin');

/** Whether the user has signed out here, and the token is still valid at the server. */
export const notEnded = signal(false);

interface Answered {
  /** When the request was sent, in milliseconds since the navigation. */
  readonly sent: number;
  /** Whether it was to write something, and did. */
  readonly isWrite: boolean;
  readonly isDone: boolean;
}

/** The last request that the server has answered, with whatever status. */
export const answered = signal<Answered>({ sent: 0, isWrite: false, isDone: false });

/** Why the server refused a sign-in. */
export class SignInError extends Error {
  readonly status: number;
  /** Seconds until the next attempt; null if there is no need to wait. */
  readonly retryAfter: number | null;

  constructor(status: number, message: string, retryAfter: number | null) {
    super(message);
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

let waiting: (() => void)[] = [];

/** Ends what the user has asked for, when they sign out. */
let ending = new AbortController();

endEarly();

/** @throws SignInError if the server refuses, TypeError if it does not answer. */
export async function signIn(username: string, password: string): Promise<void> {
  const response = await answer(
    fetch(`${BASE_PATH}/admin/tokens/`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ username, password, expires: LIFETIME }),
    }),
  );
  const body = (await response.json().catch(() => ({}))) as { token?: string; error?: string };
  if (!response.ok || body.token === undefined) {
    const retry = Number(response.headers.get('Retry-After') ?? Number.NaN);
    throw new SignInError(response.status, body.error ?? '', Number.isNaN(retry) ? null : retry);
  }
  begin(body.token);
}

/** Ends the token at the server, and forgets it here even if it cannot be ended there. */
export async function signOut(): Promise<void> {
  const left = stored.value;
  stored.value = null;
  expired.value = false;
  tabStorage.removeItem(SESSION_KEY);
  // The next user of the window is not to send what is left of this one.
  ending.abort();
  ending = new AbortController();
  if (left === null) return;
  const response = await fetch(`${BASE_PATH}/admin/tokens/${encodeURIComponent(left.jti)}/`, {
    method: 'DELETE',
    headers: { Authorization: `Bearer ${left.token}` },
    keepalive: true,
  }).catch(() => null);
  // A token that is refused has ended before.
  notEnded.value = response === null || response.status >= 500;
}

/**
 * Sends a request with the token. If the token is refused, the form is shown, and the request is
 * sent again once a user has signed in. If there are too many requests, it is sent again a little
 * later.
 *
 * @param path below the base path, or an address.
 * @throws TypeError if the server does not answer, DOMException if the request is aborted or the user
 *   has signed out.
 */
export async function authorizedFetch(path: string, init: RequestInit = {}): Promise<Response> {
  const url = path.startsWith('/') ? `${BASE_PATH}${path}` : path;
  const abort = AbortSignal.any([ending.signal, ...(init.signal ? [init.signal] : [])]);
  for (let attempt = 1; ; attempt += 1) {
    const { token } = stored.value ?? { token: '' };
    const headers = new Headers(init.headers);
    if (token !== '') headers.set('Authorization', `Bearer ${token}`);
    const isRead = (init.method ?? 'GET') === 'GET';
    const early = isRead ? takeEarly(url, token) : null;
    const sent = performance.now();
    const pending = early ?? fetch(url, { ...init, headers, signal: abort });
    const response = await answer(isRead ? pending : pending.then(whole), !isRead);
    answered.value = { sent, isWrite: !isRead, isDone: response.ok };
    // An early request has no signal, so an abort does not end it.
    abort.throwIfAborted();
    const delay = delayOf(response, attempt);
    if (delay !== null) {
      await waitThrottled(delay, abort);
      abort.throwIfAborted();
      continue;
    }
    if (response.status !== 401) return response;
    // Begun after the sign-out, such as the next step of a save.
    if (stored.value === null) throw new DOMException('signed out', 'AbortError');
    if (token === stored.value.token) await signedInAgain(abort);
  }
}

/** The response to a write once its body is there: if that breaks off, the response is lost. */
async function whole(response: Response): Promise<Response> {
  if (response.ok) await response.clone().arrayBuffer();
  return response;
}

/** Resolves when a user has signed in. Rejects if the request that waits is aborted. */
function signedInAgain(abort: AbortSignal): Promise<void> {
  expired.value = true;
  return new Promise((resolve, reject) => {
    waiting.push(resolve);
    abort.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError')));
  });
}

function begin(token: string): void {
  const next = sessionOf(token);
  if (next === null) throw new SignInError(500, '', null);
  tabStorage.setItem(SESSION_KEY, token);
  stored.value = next;
  expired.value = false;
  notEnded.value = false;
  const resolved = waiting;
  waiting = [];
  for (const resolve of resolved) resolve();
}

function read(token: string | null): Session | null {
  return token === null ? null : sessionOf(token);
}

/** What a token says of itself. The server alone judges whether it is true. */
function sessionOf(token: string): Session | null {
  try {
    const [, payload = ''] = token.split('.');
    const bytes = Uint8Array.from(atob(payload.replaceAll('-', '+').replaceAll('_', '/')), (each) =>
      each.charCodeAt(0),
    );
    const claims = JSON.parse(new TextDecoder().decode(bytes)) as {
      sub: string;
      role: Role;
      jti: string;
      iat: number;
    };
    const { sub: subject, role, jti, iat } = claims;
    return { token, subject, role, jti, issued: iat * 1000 };
  } catch {
    return null;
  }
}

/** Renews the token while the user works. */
export function keepSession(): void {
  let active = false;
  const notice = () => {
    active = true;
  };
  for (const event of ['pointerdown', 'keydown']) {
    addEventListener(event, notice, { capture: true });
  }
  setInterval(() => {
    const current = stored.value;
    if (current === null || expired.value || !active) return;
    if (Date.now() - current.issued < RENEW_AFTER_MS) return;
    active = false;
    void renew(current);
  }, LOOK_MS);
}

/** Renews a token. If the server does not answer, the next look tries again. */
async function renew(current: Session): Promise<void> {
  const renewed = await fetch(`${BASE_PATH}/admin/tokens/renewal/`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${current.token}` },
  })
    .then((response) => (response.ok ? (response.json() as Promise<{ token: string }>) : null))
    .catch(() => null);
  // Meanwhile the user may have signed out, or another one may have signed in.
  if (renewed !== null && stored.value === current) begin(renewed.token);
}
