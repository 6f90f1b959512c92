/**
 * A catalog called in process, without a socket: what the tests of test/http are about. It answers
 * to the same client as a server does (client.ts). Its store is on a real directory, and a write
 * waits for no device.
 */
import { type CatalogOptions, openCatalog } from '../../src/app/catalog.ts';
import type { Monitor } from '../../src/app/catalog-monitor.ts';
import type { Context } from '../../src/app/context.ts';
import type { Membership } from '../../src/app/hosts/membership.ts';
import { Readiness } from '../../src/app/readiness.ts';
import type { Seams } from '../../src/app/seams.ts';
import { migrate } from '../../src/cli/commands/migrate.ts';
import { type Disk, machineDisk } from '../../src/disk/disk.ts';
import { CatalogError, messageOf } from '../../src/errors.ts';
import { MAX_IMPORT_BYTES } from '../../src/http/endpoints/imports/paths.ts';
import type { HttpRequest, HttpResponse, RequestBody } from '../../src/http/message.ts';
import type { Application } from '../../src/http/application.ts';
import { JSON_LIMITS } from '../../src/json/json-limits.ts';
import { LIMITS } from '../../src/http/wire/limits.ts';
import { REQUEST_ID, Trace } from '../../src/http/wire/trace.ts';
import {
  DEFAULT_DELAY_MS,
  DEFAULT_SETTINGS,
  type PageSettings,
} from '../../src/pages/shop/settings.ts';
import { createWriter } from '../../src/pages/writer/create-writer.ts';
import type { PageMaker } from '../../src/pages/writer/page-writer.ts';
import { DEFAULT_AUDIT_BYTES } from '../../src/resources/audit.ts';
import { PooledBuffer } from '../../src/resources/text/pooled-buffer.ts';
import { DEFAULT_CHECKPOINT_BYTES } from '../../src/store/files/file-log.ts';
import { DEFAULT_HISTORY_BYTES } from '../../src/store/files/history.ts';
import { bounded, wholeOf } from '../../src/streams.ts';
import { temporaryDirectory } from './directory.ts';
import { quickDisk } from './disk.ts';
import { SECRET } from './secret.ts';
import { until } from './until.ts';

export interface ServiceOptions extends Omit<Partial<CatalogOptions>, 'pages'>, Seams {
  /** Fills a new directory with the demo catalog. */
  readonly demo?: boolean;
  readonly pages?: Partial<PageSettings>;
  /** Keys from the file of the directory instead of {@link SECRET}. */
  readonly ownKeys?: true;
  /** The largest body, in bytes. */
  readonly maxBody?: number;
  readonly disk?: Disk;
  /** How the host works with others; alone, if left out. */
  readonly membership?: Membership;
  /** Called before data is added; throws if memory is scarce. */
  readonly requireRoom?: () => void;
  readonly isMemoryScarce?: () => boolean;
  /** Whether all pages are looked at, as every start does; true if left out. */
  readonly compares?: boolean;
}

export interface Service {
  /** An origin of its own, under which {@link fetch} finds it. */
  readonly url: string;
  /** See {@link Reachable.settings}. */
  readonly settings: string;
  readonly data: string;
  /** What was reported as a failure so far. */
  readonly log: string[];
  readonly application: Application;
  /** Calls the application as the client at `address`; 127.0.0.1 if left out. */
  fetch(url: string, init?: RequestInit, address?: string): Promise<Response>;
  /** Waits until no page is on its way. */
  pagesAtRest(): Promise<void>;
  /** Waits for the pages, as many milliseconds as it says, and closes the store. */
  stop(grace?: number): Promise<void>;
}

const open = new Set<Service>();
let opened = 0;

/** Closes every service that a failed test left open. */
export async function closeServices(): Promise<void> {
  for (const service of open) await service.stop();
}

/** Milliseconds that {@link Service.stop} waits for pages: longer than any test makes. */
const GRACE_MS = 600_000;

export async function openService(options: ServiceOptions = {}): Promise<Service> {
  const { disk = quickDisk, data = temporaryDirectory() } = options;
  const context = contextOf(disk, options.ownKeys === true ? {} : { CATALOG_JWT_SECRET: SECRET });
  if (options.demo === true) await migrate({ data, demo: true, dryRun: false }, context);
  const log: string[] = [];
  const settings = optionsOf(options, data);
  const seams = { pageMaker: pageMaker(settings, disk), ...options };
  const { membership } = options;
  const catalog = await openCatalog(settings, context, monitor(log, options), membership, seams);
  if (options.compares !== false) catalog.pages.compare();
  opened += 1;
  const url = `http://service-${opened}`;
  const limit = options.maxBody ?? LIMITS.body;
  const service: Service = {
    url,
    settings: settingsOf(options),
    data,
    log,
    application: catalog.application,
    fetch: (target, init = {}, address = '127.0.0.1') =>
      call(catalog.application, target.slice(url.length), init, address, limit),
    pagesAtRest: () => until('no page is on its way', () => !catalog.pages.state.isBehind),
    async stop(grace = GRACE_MS) {
      if (!open.delete(service)) return;
      await catalog.close(grace);
    },
  };
  open.add(service);
  return service;
}

/** @returns what makes pages on a disk that cannot be given to another thread. */
export function pageMaker({ data, pages }: CatalogOptions, disk: Disk): PageMaker | undefined {
  return disk === machineDisk ? undefined : createWriter(disk, data, pages);
}

/** All but where it is, and what has no text: functions are left out. */
function settingsOf({ disk: _disk, data: _data, ...rest }: ServiceOptions): string {
  return JSON.stringify(rest);
}

/** What a command is given that is called in process: its output is not kept. */
export function contextOf(disk = quickDisk, env: Context['env'] = {}): Context {
  return {
    env,
    version: 'test',
    disk,
    input: () => process.stdin,
    terminal: null,
    print() {},
    write: () => Promise.resolve(),
    warn: (line) => {
      throw new Error(line);
    },
  };
}

export function optionsOf(options: ServiceOptions, data: string): CatalogOptions {
  return {
    basePath: '',
    corsOrigins: [],
    auditSize: DEFAULT_AUDIT_BYTES,
    history: DEFAULT_HISTORY_BYTES,
    checkpointSize: DEFAULT_CHECKPOINT_BYTES,
    pageDelay: DEFAULT_DELAY_MS,
    maxJsonDepth: JSON_LIMITS.depth,
    maxJsonElements: JSON_LIMITS.elements,
    maxImport: MAX_IMPORT_BYTES,
    sendTimeout: LIMITS.sendTimeout,
    ...options,
    data,
    pages: { ...DEFAULT_SETTINGS, ...options.pages },
  };
}

/** Keeps what is logged, as `Observability` words it. */
export function monitor(
  log: string[],
  { requireRoom = () => {}, isMemoryScarce = () => false }: ServiceOptions = {},
): Monitor {
  const readiness = new Readiness();
  const add = (message: string) => void log.push(message);
  const onError = (what: string) => (error: unknown) => add(`${what}: ${messageOf(error)}`);
  return {
    log: {
      failure: (message, _, fields) =>
        add(fields === undefined ? message : `${message} ${JSON.stringify(fields)}`),
      warn: add,
    },
    readiness,
    memory: { requireRoom, isScarce: isMemoryScarce },
    onReplicationState: (state) => readiness.setReplicationState(state),
    observer: {
      appending: readiness.appending,
      committed: readiness.committed,
      checkpointed() {},
    },
    onError,
    onFatal: onError('the store stopped'),
  };
}

/** @param target path and query, as a client would send them: nothing is normalised. */
async function call(
  application: Application,
  target: string,
  { method = 'GET', headers, body }: RequestInit,
  address: string,
  limit: number,
): Promise<Response> {
  const [path = '', ...queries] = target.split('?');
  const stream = new Response(body).body ?? new ReadableStream({ start: (end) => end.close() });
  const request: HttpRequest = {
    method,
    path,
    search: queries.join('?'),
    headers: Object.fromEntries(new Headers(headers)),
    address,
    trace: new Trace(),
    body: bodyOf(stream, limit),
    whenGone: () => () => {},
  };
  return responseTo(request, await application(request));
}

/** A body that is read when the application asks for it, and no earlier. */
function bodyOf(sent: ReadableStream<Uint8Array>, most: number): RequestBody {
  const stream = (limit: number) =>
    bounded(
      sent,
      limit,
      () => new CatalogError('body_too_large', `the body is larger than ${limit} bytes`),
    );
  return { stream, bytes: () => wholeOf(stream(most)) };
}

/** What the server adds to a response that is seen by its receiver as well. */
async function responseTo(
  { method, headers: asked, trace }: HttpRequest,
  { status, headers, body }: HttpResponse,
): Promise<Response> {
  if (asked[REQUEST_ID] !== undefined || status >= 500) headers['X-Request-Id'] = trace.id;
  if (method !== 'HEAD') return new Response(kept(body), { status, headers });
  if (typeof body === 'object' && body !== null && Symbol.asyncIterator in body) {
    await body[Symbol.asyncIterator]().return?.();
  }
  return new Response(null, { status, headers });
}

/** A pooled buffer is used again by the next list. */
function kept(body: HttpResponse['body']): Exclude<HttpResponse['body'], PooledBuffer> {
  if (!(body instanceof PooledBuffer)) return body;
  const bytes = Uint8Array.from(body.bytes);
  body.release();
  return bytes;
}
