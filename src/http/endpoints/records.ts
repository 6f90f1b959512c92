/** Collections and items as endpoints: spec 1.2 over the use cases of src/resources. */
import type { Role } from '../../auth/roles.ts';
import { isWritable, type Row } from '../../model/kind.ts';
import type { Address } from '../../resources/address.ts';
import type { Mode } from '../../resources/input.ts';
import { type CollectionQuery, parseQuery } from '../../resources/query.ts';
import type { Listing, Precondition, Records } from '../../resources/records.ts';
import type { Representation } from '../../resources/representation.ts';
import { accessTo } from '../rules/authorization.ts';
import { describeAttributes } from './description.ts';
import type { Endpoint, RequestContext, Method } from './endpoint.ts';
import { type HttpResponse, whenReady } from '../message.ts';
import { idempotencyKey } from '../rules/idempotency-key.ts';
import { pageLinks } from '../rules/paging.ts';
import { type Conditions, requireWritable } from '../rules/preconditions.ts';

export class CollectionEndpoint implements Endpoint {
  readonly methods: readonly Method[];
  readonly negotiates = true;
  readonly emptyNotFound = false;
  readonly #records: Records;
  readonly #address: Address;
  readonly #protectsOpen: boolean;

  /** @param protectsOpen whether writing what anybody may read takes a token. */
  constructor(records: Records, address: Address, protectsOpen: boolean) {
    this.#protectsOpen = protectsOpen;
    this.#records = records;
    this.#address = address;
    this.methods = collectionMethods(address);
  }

  access(method: string): Role | null {
    return accessTo(this.#address.kind, method, this.#protectsOpen);
  }

  describe(): object {
    return describeAttributes(this.#address.kind, this.methods);
  }

  load(): undefined {
    this.#records.requireParent(this.#address);
  }

  validators(): null {
    return null;
  }

  handle(method: Method, exchange: RequestContext): HttpResponse | Promise<HttpResponse> {
    if (method === 'POST') return this.#create(exchange);
    return method === 'PATCH' ? this.#updateAll(exchange) : this.#list(exchange);
  }

  #list(context: RequestContext): HttpResponse | Promise<HttpResponse> {
    const query = parseQuery(this.#address.kind, context.request.search);
    return whenReady(this.#records.list(this.#address, query.selection), (listing) =>
      this.#page(context, query, listing),
    );
  }

  #page(
    { request, mediaType }: RequestContext,
    query: CollectionQuery,
    { text, total }: Listing,
  ): HttpResponse {
    const headers: Record<string, string> = {
      'Content-Type': mediaType,
      'X-Total-Count': String(total),
    };
    headers['Link'] = [...pageLinks(request.path, query, total), this.#up(request.path)].join(', ');
    return { status: 200, headers, body: text };
  }

  async #create({ request, caller, body, mediaType }: RequestContext): Promise<HttpResponse> {
    const sender = { subject: subjectOf(caller), key: idempotencyKey(request) };
    const { kind, parent } = this.#address;
    const many = kind.bulk && parent === null && Array.isArray(body);
    const created = await (many
      ? this.#records.createAll(kind, body, sender)
      : this.#records.create(this.#address, body, sender));
    const { id, text, etag, replayed } = created;
    const headers: Record<string, string> = { 'Content-Type': mediaType };
    if (id !== null) headers['Location'] = `${request.path}${id}/`;
    if (etag !== null) headers['ETag'] = etag;
    if (replayed) headers['Idempotent-Replayed'] = 'true';
    return { status: 201, headers, body: text };
  }

  async #updateAll({ body, mediaType, caller }: RequestContext): Promise<HttpResponse> {
    const text = await this.#records.updateAll(this.#address.kind, body, subjectOf(caller));
    return { status: 200, headers: { 'Content-Type': mediaType }, body: text };
  }

  /** The parent of a nested collection, the index of any other. */
  #up(path: string): string {
    const { kind, parent } = this.#address;
    const below = parent === null ? (kind.path ?? '') : `/${parent.nesting.segment}/`;
    return `<${path.slice(0, path.length - below.length + 1)}>; rel="up"`;
  }
}

function collectionMethods({ kind, parent }: Address): readonly Method[] {
  if (!isWritable(kind, parent?.nesting ?? null)) return ['GET'];
  return kind.bulk && parent === null ? ['GET', 'POST', 'PATCH'] : ['GET', 'POST'];
}

function itemMethods({ kind, parent }: Address): readonly Method[] {
  if (!isWritable(kind, parent?.nesting ?? null)) return ['GET'];
  return parent === null ? ['GET', 'PUT', 'PATCH', 'DELETE'] : ['GET', 'DELETE'];
}

export class ItemEndpoint implements Endpoint {
  readonly methods: readonly Method[];
  readonly negotiates = true;
  readonly #records: Records;
  readonly #address: Address;
  readonly #id: number;
  readonly #protectsOpen: boolean;
  #row: Row | null = null;
  #representation: Representation | null = null;

  /** @param protectsOpen whether writing what anybody may read takes a token. */
  constructor(records: Records, address: Address, id: number, protectsOpen: boolean) {
    this.#protectsOpen = protectsOpen;
    this.#records = records;
    this.#address = address;
    this.#id = id;
    this.methods = itemMethods(address);
  }

  access(method: string): Role | null {
    return accessTo(this.#address.kind, method, this.#protectsOpen);
  }

  get emptyNotFound(): boolean {
    return this.#address.kind.emptyNotFound;
  }

  describe(): object {
    return describeAttributes(this.#address.kind, this.methods);
  }

  load(method: string): undefined {
    const telling = method === 'GET' || method === 'HEAD';
    this.#row = this.#records.find(this.#address, this.#id, telling);
  }

  validators(): Representation {
    if (this.#row === null) throw new Error('an item is located before it is read');
    this.#representation ??= this.#records.read(this.#address, this.#row);
    return this.#representation;
  }

  handle(method: Method, exchange: RequestContext): HttpResponse | Promise<HttpResponse> {
    if (method === 'GET') return answer(this.validators(), exchange);
    const allow = writeCondition(exchange.conditions);
    if (method === 'DELETE') return this.#remove(allow, exchange);
    return this.#update(method === 'PUT' ? 'whole' : 'partial', allow, exchange);
  }

  async #update(mode: Mode, allow: Precondition, exchange: RequestContext): Promise<HttpResponse> {
    const { body, caller } = exchange;
    return answer(
      await this.#records.update(this.#address, this.#id, mode, body, allow, subjectOf(caller)),
      exchange,
    );
  }

  async #remove(allow: Precondition, { caller }: RequestContext): Promise<HttpResponse> {
    await this.#records.remove(this.#address, this.#id, allow, subjectOf(caller));
    return { status: 204, headers: {}, body: null };
  }
}

function answer(
  { text, etag }: Representation,
  { mediaType, request }: RequestContext,
): HttpResponse {
  const collection = request.path.slice(
    0,
    request.path.lastIndexOf('/', request.path.length - 2) + 1,
  );
  const Link = `<${collection}>; rel="collection", <${collection}>; rel="up"`;
  return { status: 200, headers: { 'Content-Type': mediaType, ETag: etag, Link }, body: text };
}

/** Who writes; null where nobody was asked. */
function subjectOf(caller: RequestContext['caller']): string | null {
  return caller?.subject ?? null;
}

function writeCondition(conditions: Conditions | null): Precondition {
  return conditions === null ? null : ({ etag }) => requireWritable(conditions, etag);
}
