/**
 * Visits to a server in a browser. The page of a visit that is over is emptied, and a later visit
 * goes on in it: a new context with its renderer takes more CPU time than most tests do. The files
 * of a process share a browser for the same reason.
 */
import type { Browser, BrowserContextOptions, CDPSession, Page } from 'playwright-core';
import { launch } from '../../support/chromium.ts';
import { afterAllFiles } from '../../support/file-hooks.ts';

export interface Visit {
  readonly page: Page;
  /** Console errors, uncaught exceptions, refused requests and violations of the policy. */
  readonly complaints: string[];
  /** Addresses of other hosts that were requested. */
  readonly foreign: string[];
  /** Bytes of each response of the server, by address. */
  readonly bytes: Map<string, number>;
}

/** Options of a context, except those that {@link Look} has by another name. */
type Options = Omit<BrowserContextOptions, 'viewport' | 'colorScheme'>;

export interface Look {
  readonly width?: number;
  readonly dark?: boolean;
  readonly options?: Options;
}

/** The page of a visit, or of none, with what must be known to empty it. */
interface Room {
  readonly page: Page;
  readonly devtools: CDPSession;
  readonly options: Options;
  /** Takes the scripts of {@link prepare} away. */
  readonly undo: (() => Promise<unknown>)[];
  /** Whether a test has set its clock. That cannot be undone. */
  hasClock: boolean;
  /** Where the visit has been: these origins may have stored something. */
  readonly origins: Set<string>;
}

/** Milliseconds after which a step counts as one that hangs: many times what any of them takes. */
const STEP_TIMEOUT_MS = 180_000;

/** Milliseconds after which a page that cannot be emptied is closed instead. */
const EMPTY_TIMEOUT_MS = 20_000;

/** Empty pages that are kept. Each is a process with its memory. */
const MAX_EMPTY = 3;

/** A path that no server has. */
const EMPTY_PATH = '/empty-page-of-the-tests';

let shared: Promise<Browser> | null = null;
const going = new Map<Page, Room>();
let empty: Room[] = [];

async function browser(): Promise<Browser> {
  shared ??= launch();
  const launched = await shared;
  if (launched.isConnected()) return launched;
  // A browser that has crashed has failed one test, not those after it.
  [shared, empty] = [launch(), []];
  return shared;
}

afterAllFiles(async () => {
  await (await shared)?.close();
});

/** Opens a page and records its events, until {@link end} or {@link endAll}. */
export async function open({
  width = 1000,
  dark = false,
  options = {},
}: Look = {}): Promise<Visit> {
  const viewport = { width, height: 800 };
  const colorScheme = dark ? 'dark' : 'light';
  const { page, origins } =
    (await emptyRoom(options, viewport, colorScheme)) ??
    (await newRoom(options, viewport, colorScheme));
  const visit: Visit = { page, complaints: [], foreign: [], bytes: new Map() };
  record(visit, origins);
  return visit;
}

/** Runs a script in each document of a page before its own ones, as long as the visit goes on. */
export async function prepare(page: Page, script: string): Promise<void> {
  const added = await page.addInitScript(script);
  going.get(page)?.undo.push(() => added.dispose());
}

/** Puts the clock and the timers of a page into the hands of the test; see {@link Page.clock}. */
export async function setClock(
  page: Page,
  options?: Parameters<Page['clock']['install']>[0],
): Promise<void> {
  const room = going.get(page);
  if (room !== undefined) room.hasClock = true;
  await page.clock.install(options);
}

/** Ends the visit of a page, and closes the pages that it has opened. */
export async function end(page: Page): Promise<void> {
  const room = going.get(page);
  if (room === undefined) return;
  going.delete(page);
  if (await isEmptied(room)) empty.push(room);
  else await page.context().close();
  if (empty.length > MAX_EMPTY) await empty.shift()?.page.context().close();
}

/** Ends every visit of the process. */
export async function endAll(): Promise<void> {
  for (const page of going.keys()) await end(page);
}

type Viewport = NonNullable<BrowserContextOptions['viewport']>;
type Scheme = 'light' | 'dark';

async function newRoom(options: Options, viewport: Viewport, colorScheme: Scheme): Promise<Room> {
  const context = await (await browser()).newContext({ ...options, viewport, colorScheme });
  context.setDefaultTimeout(STEP_TIMEOUT_MS);
  const page = await context.newPage();
  const devtools = await context.newCDPSession(page);
  const room: Room = { page, devtools, options, undo: [], hasClock: false, origins: new Set() };
  going.set(page, room);
  return room;
}

/** @returns null if no empty page has these options. */
async function emptyRoom(
  options: Options,
  viewport: Viewport,
  colorScheme: Scheme,
): Promise<Room | null> {
  await browser();
  const wanted = JSON.stringify(options);
  const room = empty.find((each) => JSON.stringify(each.options) === wanted);
  if (room === undefined) return null;
  empty = empty.filter((each) => each !== room);
  going.set(room.page, room);
  await room.page.setViewportSize(viewport);
  await room.page.emulateMedia({
    media: null,
    colorScheme,
    reducedMotion: options.reducedMotion ?? 'no-preference',
    forcedColors: options.forcedColors ?? 'none',
    contrast: options.contrast ?? 'no-preference',
  });
  return room;
}

function record({ page, complaints, foreign, bytes }: Visit, origins: Set<string>): void {
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') {
      complaints.push(`${message.text()} ${message.location().url}`);
    }
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => {
    const url = request.url();
    const own = new URL(url).origin === new URL(request.frame().url()).origin;
    if (!own && !request.isNavigationRequest() && !/^(?:data|blob):/.test(url)) foreign.push(url);
  });
  page.on('response', async (response) => {
    if (response.status() >= 400) complaints.push(`${response.status()} ${response.url()}`);
    const length = Number(response.headers()['content-length'] ?? Number.NaN);
    if (!response.url().startsWith('data:')) bytes.set(response.url(), length);
  });
  page.on('framenavigated', (frame) => noteOrigin(frame.url(), origins));
}

function noteOrigin(url: string, origins: Set<string>): void {
  const { protocol, origin } = new URL(url);
  if (protocol === 'http:') origins.add(origin);
}

/** What tests listen to. A page listens to its end itself, so not all listeners may be removed. */
const EVENTS = [
  'console',
  'dialog',
  'download',
  'framenavigated',
  'pageerror',
  'popup',
  'request',
  'requestfailed',
  'requestfinished',
  'response',
] as const;

/**
 * Makes a page like a new one, except that it may have style sheets and scripts in its cache.
 *
 * @returns whether it is.
 */
async function isEmptied({ page, devtools, undo, hasClock, origins }: Room): Promise<boolean> {
  const context = page.context();
  if (hasClock || page.isClosed()) return false;
  try {
    for (const other of context.pages()) {
      if (other === page) continue;
      noteOrigin(other.url(), origins);
      await other.close();
    }
    for (const event of EVENTS) page.removeAllListeners(event);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    for (const each of undo.splice(0)) await each();
    await leave(page, origins);
    await context.clearCookies();
    await devtools.send('Page.resetNavigationHistory');
    return true;
  } catch {
    // It is in a state that only a failed test leaves, or has crashed.
    return false;
  }
}

/**
 * Deletes what the visit has stored, in a document of each origin: one without the scripts that
 * could store it again.
 */
async function leave(page: Page, origins: Set<string>): Promise<void> {
  await page.route(`**${EMPTY_PATH}`, (route) =>
    route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>Empty</title>' }),
  );
  for (const origin of origins) {
    await page.goto(`${origin}${EMPTY_PATH}`, { timeout: EMPTY_TIMEOUT_MS });
    await page.evaluate('sessionStorage.clear(), localStorage.clear()');
  }
  origins.clear();
  await page.unrouteAll();
  await page.mouse.move(-1, -1);
}
