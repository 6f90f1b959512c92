/** Collections and items as endpoints: SPEC 4 over the use cases of src/resources. */
import type { Row } from '../model/kind.ts';
import type { Mode } from '../resources/input.ts';
import { parseQuery } from '../resources/query.ts';
import type { Address, Precondition, Records } from '../resources/records.ts';
import type { Representation } from '../resources/representation.ts';
import { describeAttributes } from './description.ts';
import type { Endpoint, Exchange, Method } from './endpoint.ts';
import type { Answer } from './exchange.ts';
import { pageLinks } from './paging.ts';
import { type Conditions, requireWritable } from './preconditions.ts';

export class CollectionEndpoint implements Endpoint {
  readonly methods: readonly Method[];
  readonly negotiates = true;
  readonly emptyNotFound = false;
  readonly #records: Records;
  readonly #address: Address;

  constructor(records: Records, address: Address) {
    this.#records = records;
    this.#address = address;
    this.methods = address.parent?.nesting.writable === false ? ['GET'] : ['GET', 'POST'];
  }

  get open(): boolean {
    return this.#address.kind.open;
  }

  describe(): object {
    return describeAttributes(this.#address.kind, this.methods);
  }

  locate(): undefined {
    this.#records.requireParent(this.#address);
  }

  current(): null {
    return null;
  }

  perform(method: Method, exchange: Exchange): Answer | Promise<Answer> {
    return method === 'POST' ? this.#create(exchange) : this.#list(exchange);
  }

  #list({ request, mediaType }: Exchange): Answer {
    const query = parseQuery(this.#address.kind, request.search);
    const { text, total } = this.#records.list(this.#address, query.selection);
    const headers: Record<string, string> = {
      'Content-Type': mediaType,
      'X-Total-Count': String(total),
    };
    const links = pageLinks(request.path, query, total);
    if (links.length > 0) headers['Link'] = links.join(', ');
    return { status: 200, headers, body: text };
  }

  async #create({ request, body, mediaType }: Exchange): Promise<Answer> {
    const { id, text, etag } = await this.#records.create(this.#address, body);
    return {
      status: 201,
      headers: { 'Content-Type': mediaType, ETag: etag, Location: `${request.path}${id}/` },
      body: text,
    };
  }
}

const ITEM_METHODS: readonly Method[] = ['GET', 'PUT', 'PATCH', 'DELETE'];

export class ItemEndpoint implements Endpoint {
  readonly methods: readonly Method[];
  readonly negotiates = true;
  readonly #records: Records;
  readonly #address: Address;
  readonly #id: number;
  #row: Row | null = null;
  #representation: Representation | null = null;

  constructor(records: Records, address: Address, id: number) {
    this.#records = records;
    this.#address = address;
    this.#id = id;
    const nested = address.parent?.nesting.writable === true ? ['GET', 'DELETE'] : ['GET'];
    this.methods = address.parent === null ? ITEM_METHODS : (nested as Method[]);
  }

  get open(): boolean {
    return this.#address.kind.open;
  }

  get emptyNotFound(): boolean {
    return this.#address.kind.emptyNotFound;
  }

  describe(): object {
    return describeAttributes(this.#address.kind, this.methods);
  }

  locate(method: string): undefined {
    const telling = method === 'GET' || method === 'HEAD';
    this.#row = this.#records.find(this.#address, this.#id, telling);
  }

  current(): Representation {
    if (this.#row === null) throw new Error('an item is located before it is read');
    this.#representation ??= this.#records.read(this.#address, this.#row);
    return this.#representation;
  }

  perform(method: Method, { body, conditions, mediaType }: Exchange): Answer | Promise<Answer> {
    if (method === 'GET') return answer(this.current(), mediaType);
    const allow = writeCondition(conditions);
    if (method === 'DELETE') return this.#remove(allow);
    return this.#update(method === 'PUT' ? 'whole' : 'partial', body, allow, mediaType);
  }

  async #update(
    mode: Mode,
    body: unknown,
    allow: Precondition,
    mediaType: string,
  ): Promise<Answer> {
    return answer(
      await this.#records.update(this.#address, this.#id, mode, body, allow),
      mediaType,
    );
  }

  async #remove(allow: Precondition): Promise<Answer> {
    await this.#records.remove(this.#address, this.#id, allow);
    return { status: 204, headers: {}, body: null };
  }
}

function answer({ text, etag }: Representation, mediaType: string): Answer {
  return { status: 200, headers: { 'Content-Type': mediaType, ETag: etag }, body: text };
}

function writeCondition(conditions: Conditions | null): Precondition {
  return conditions === null ? null : ({ etag }) => requireWritable(conditions, etag);
}
