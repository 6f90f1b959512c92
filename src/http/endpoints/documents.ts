/** Endpoints that serve a document: the index, the API description, its viewer, pages. */
import { CatalogError } from '../../errors.ts';
import { entityTag } from '../../resources/entity-tag.ts';
import type { Endpoint, RequestContext, Method } from './endpoint.ts';
import type { HttpResponse } from '../message.ts';

export interface Document {
  readonly body: string | Uint8Array;
  readonly type: string;
  readonly modified?: Date;
  /** Link values of its own (RFC 8288). */
  readonly links?: string;
  /** Content-Security-Policy of a page. */
  readonly policy?: string;
}

export class DocumentEndpoint implements Endpoint {
  readonly methods: readonly Method[] = ['GET'];
  readonly emptyNotFound = false;
  readonly negotiates: boolean;
  readonly #find: () => Document | null | Promise<Document | null>;
  #document: Document | null = null;

  /**
   * @param find the document; null where there is none.
   * @param negotiates whether it is JSON that `Accept` may exclude.
   */
  constructor(find: () => Document | null | Promise<Document | null>, negotiates = false) {
    this.#find = find;
    this.negotiates = negotiates;
  }

  access(): null {
    return null;
  }

  describe(): object {
    return { attributes: {} };
  }

  async load(): Promise<void> {
    this.#document = await this.#find();
    if (this.#document === null) throw new CatalogError('not_found', 'there is no such document');
  }

  validators(): { readonly etag: string; readonly modified: Date | undefined } {
    const document = this.#located();
    return { etag: etagOf(document), modified: document.modified };
  }

  handle(_: Method, { mediaType }: RequestContext): HttpResponse {
    const { body, type, modified, links, policy } = this.#located();
    const headers: Record<string, string> = {
      'Content-Type': this.negotiates ? mediaType : type,
      ETag: this.validators().etag,
      'Cache-Control': 'no-cache',
    };
    if (links !== undefined) headers['Link'] = links;
    if (policy !== undefined) headers['Content-Security-Policy'] = policy;
    if (modified !== undefined) headers['Last-Modified'] = modified.toUTCString();
    return { status: 200, headers, body };
  }

  #located(): Document {
    if (this.#document === null) throw new Error('a document is located before it is read');
    return this.#document;
  }
}

/** Documents that stay are hashed once. */
const etags = new WeakMap<Document, string>();

function etagOf(document: Document): string {
  let etag = etags.get(document);
  if (etag === undefined) {
    etag = entityTag(document.body);
    etags.set(document, etag);
  }
  return etag;
}
