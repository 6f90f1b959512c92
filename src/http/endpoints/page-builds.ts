/** `/admin/page-builds/`: pages made anew on demand (spec 7.6), and how far that is. */
import type { Role } from '../../auth/roles.ts';
import { CatalogError } from '../../errors.ts';
import { Problems, requireObject } from '../../resources/input.ts';
import type { Endpoint, RequestContext, Method } from './endpoint.ts';
import type { HttpResponse } from '../message.ts';

export const PAGE_BUILDS_PATH = '/admin/page-builds/';

/** SKUs that one build may name. */
const MAX_SKUS = 10_000;

/** What a client sends, as JSON Schema (2020-12), and whether it has to. */
export const PAGE_BUILD_ATTRIBUTES = {
  stale: { type: 'boolean', default: false, required: false },
  skus: {
    type: ['array', 'null'],
    items: { type: 'integer', minimum: 1 },
    minItems: 1,
    maxItems: MAX_SKUS,
    default: null,
    required: false,
  },
} as const;

export interface PageBuildService {
  /**
   * @param scope ids of SKUs, or null for all pages; only those that differ where `stale`.
   * @throws CatalogError `invalid`, `too_many_builds`.
   */
  start(scope: { stale: boolean; skus: readonly number[] | null }): PageBuildObject;
  find(id: number): PageBuildObject | null;
  all(): readonly PageBuildObject[];
}

/** As it is shown, whatever it holds besides. */
type PageBuildObject = Readonly<{ id: number }> & object;

export class PageBuildsEndpoint implements Endpoint {
  readonly methods: readonly Method[] = ['GET', 'POST'];
  readonly negotiates = true;
  readonly emptyNotFound = false;
  readonly #service: PageBuildService;

  constructor(service: PageBuildService) {
    this.#service = service;
  }

  /** The role admin also rebuilds pages (spec 6.5). */
  access(method: string): Role {
    return method === 'POST' ? 'admin' : 'viewer';
  }

  describe(): object {
    return { name: 'page build', attributes: PAGE_BUILD_ATTRIBUTES };
  }

  load(): undefined {}

  validators(): null {
    return null;
  }

  handle(method: Method, { body, request, mediaType }: RequestContext): HttpResponse {
    const headers: Record<string, string> = { 'Content-Type': mediaType };
    if (method === 'GET') {
      return { status: 200, headers, body: JSON.stringify(this.#service.all()) };
    }
    const build = this.#service.start(parseScope(body));
    headers['Location'] = `${request.path}${build.id}/`;
    return { status: 202, headers, body: JSON.stringify(build) };
  }
}

export class PageBuildEndpoint implements Endpoint {
  readonly methods: readonly Method[] = ['GET'];
  readonly negotiates = true;
  readonly emptyNotFound = false;
  readonly #service: PageBuildService;
  readonly #id: number;

  constructor(service: PageBuildService, id: number) {
    this.#service = service;
    this.#id = id;
  }

  access(): Role {
    return 'viewer';
  }

  describe(): object {
    return { name: 'page build', attributes: {} };
  }

  load(): undefined {
    this.#found();
  }

  validators(): null {
    return null;
  }

  handle(_: Method, { mediaType }: RequestContext): HttpResponse {
    const body = JSON.stringify(this.#found());
    return { status: 200, headers: { 'Content-Type': mediaType }, body };
  }

  #found(): object {
    const build = this.#service.find(this.#id);
    if (build !== null) return build;
    throw new CatalogError('not_found', `there is no page build ${this.#id}`);
  }
}

/** @throws CatalogError `invalid`, with every problem. */
function parseScope(body: unknown): { stale: boolean; skus: readonly number[] | null } {
  const { stale = false, skus = null } = requireObject(body);
  const problems = new Problems();
  if (typeof stale !== 'boolean') problems.add('stale', 'must be a boolean');
  if (skus !== null && !isIds(skus)) {
    problems.add('skus', `must be an array of 1 to ${MAX_SKUS} ids`);
  }
  problems.settle();
  return { stale: stale === true, skus: skus === null ? null : [...new Set(skus as number[])] };
}

function isIds(value: unknown): value is readonly number[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_SKUS) return false;
  return value.every((id) => Number.isSafeInteger(id) && id >= 1);
}
