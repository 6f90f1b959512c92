/**
 * Holds answers against the description that the server itself gives: `/openapi.json`.
 *
 * Path and method are described, the status is among the responses of the operation, required
 * headers are present and no others, and the body matches the schema, without other members.
 */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import * as assert from 'uvu/assert';
import type { Reachable } from './client.ts';

type Json = Readonly<Record<string, unknown>>;

/** Headers of the connection and of the message, which a description leaves out. */
const UNDESCRIBED =
  /^(?:connection|content-(?:length|type)|date|keep-alive|transfer-encoding|access-control-.*)$/;

export interface CheckedResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body; undefined if it is not JSON. */
  readonly json: unknown;
}

interface Response {
  readonly headers?: Readonly<Record<string, HeaderObject>>;
  readonly content?: Readonly<Record<string, { readonly schema: Json }>>;
}

interface HeaderObject {
  readonly required?: boolean;
  readonly schema: Json;
}

interface Operation {
  readonly responses: Readonly<Record<string, unknown>>;
}

interface Parameter {
  readonly name: string;
  readonly schema: Json;
}

type Servers = readonly { readonly url: string }[];

interface PathItem extends Json {
  /** Left out if the path is below every server of the description. */
  readonly servers?: Servers;
  readonly parameters?: readonly unknown[];
}

interface Template {
  readonly path: string;
  readonly pattern: RegExp;
  /** What stands before it on the servers that have it. */
  readonly prefixes: readonly string[];
}

interface Description extends Json {
  readonly servers: Servers;
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly 'x-unlisted': Readonly<Record<'path' | 'method' | 'slash', unknown>>;
}

/**
 * By the settings of the server, or its origin, and the path of the description: to make it takes
 * longer than most tests.
 */
const fetched = new Map<string, Promise<Contract>>();

/** By the text of the description: most servers have the same, and it takes long to prepare. */
const contracts = new Map<string, Contract>();

/**
 * Holds one answer of a server against the description that the answer itself links to.
 *
 * @param path the path and query as sent, below the server's address.
 * @throws AssertionError naming everything that is not as described.
 */
export async function requireDescribed(
  server: Reachable,
  method: string,
  path: string,
  answer: CheckedResponse,
): Promise<void> {
  const { origin } = new URL(server.url);
  const target = `${server.url.slice(origin.length)}${path}`;
  const [, description] =
    /<([^>]*)>; rel="service-desc"/.exec(answer.headers.get('link') ?? '') ?? [];
  assert.ok(description, `the answer to ${method} ${target} links to no description`);
  const key = `${server.settings ?? origin} ${description}`;
  let contract = fetched.get(key);
  if (contract === undefined) {
    contract = describedAt(server, `${origin}${description}`);
    fetched.set(key, contract);
  }
  const faults = (await contract).faults(method, target, answer);
  assert.equal(faults, [], `${method} ${target} is not as ${description} says`);
}

async function describedAt(server: Reachable, address: string): Promise<Contract> {
  const text = await (await (server.fetch ?? fetch)(address)).text();
  const contract = contracts.get(text) ?? new Contract(text);
  contracts.set(text, contract);
  return contract;
}

export class Contract {
  readonly #document: Description;
  readonly #templates: readonly Template[];
  readonly #ajv = new Ajv2020({ allErrors: true, strict: false });
  readonly #validators = new Map<unknown, ValidateFunction>();

  constructor(text: string) {
    this.#document = closed(JSON.parse(text)) as Description;
    addFormats(this.#ajv);
    this.#ajv.addSchema(this.#document, 'openapi');
    const { servers, paths } = this.#document;
    this.#templates = Object.entries(paths).map(([path, item]) => {
      const parameters = (item.parameters ?? []).map((each) => this.#resolve(each) as Parameter);
      const schemas = new Map(parameters.map(({ name, schema }) => [name, schema]));
      const pattern = patternOf(path, schemas);
      return { path, pattern, prefixes: prefixesOf(item.servers ?? servers) };
    });
  }

  /**
   * @param target path and query as sent.
   * @returns what the description does not allow, a sentence each; empty if it allows everything.
   */
  faults(method: string, target: string, answer: CheckedResponse): string[] {
    const path = target.replace(/[?#].*$/s, '');
    const [expected, what] = this.#expected(method, path, answer.status);
    if (typeof expected === 'string') return [expected];
    const { headers = {}, content } = this.#resolve(expected) as Response;
    const faults = [
      ...this.#headerFaults(headers, answer.headers),
      ...this.#bodyFaults(method === 'HEAD' ? undefined : content, answer),
    ];
    return faults.map((fault) => `${what}: ${fault}`);
  }

  /** The response that is described, and what it is; or what is wrong. */
  #expected(method: string, path: string, status: number): readonly [unknown, string] {
    const { paths, 'x-unlisted': unlisted } = this.#document;
    const template = this.#templateOf(path);
    if (template === undefined) {
      if (status === 404) return [unlisted.path, 'the 404 of a path that is not described'];
      if (status === 308) return [unlisted.slash, 'the 308 of a path without its slash'];
      return [`the path is not described, and answered with ${status}`, ''];
    }
    const operation = paths[template]?.[method.toLowerCase()] as Operation | undefined;
    if (operation === undefined) {
      if (status === 405) return [unlisted.method, `the 405 of ${template}`];
      return [`${template} has no ${method}, but it answered with ${status}`, ''];
    }
    const response = operation.responses[String(status)];
    if (response === undefined) return [`${method} of ${template} has no ${status}`, ''];
    return [response, `the ${status} of ${method} of ${template}`];
  }

  #templateOf(path: string): string | undefined {
    return this.#templates.find(({ pattern, prefixes }) =>
      prefixes.some(
        (prefix) => path.startsWith(`${prefix}/`) && pattern.test(path.slice(prefix.length)),
      ),
    )?.path;
  }

  #headerFaults(described: NonNullable<Response['headers']>, headers: Headers): string[] {
    const known = new Map(Object.entries(described).map(([name, to]) => [name.toLowerCase(), to]));
    const undescribed = [...headers.keys()].filter(
      (name) => !known.has(name) && !UNDESCRIBED.test(name),
    );
    const faults = undescribed.map((name) => `the header ${name} is not described`);
    for (const [name, to] of known) {
      const { required, schema } = this.#resolve(to) as HeaderObject;
      const sent = headers.get(name);
      if (sent !== null) {
        const value = schema['type'] === 'integer' ? Number(sent) : sent;
        faults.push(...this.#schemaFaults(schema, value, `the header ${name}`));
      } else if (required === true) {
        faults.push(`the header ${name} is missing`);
      }
    }
    return faults;
  }

  #bodyFaults(content: Response['content'], { headers, text, json }: CheckedResponse): string[] {
    if (content === undefined) return text === '' ? [] : ['there is a body'];
    const type = headers.get('content-type') ?? '';
    const described = content[type] ?? content[type.replace(/;.*$/, '')] ?? content['*/*'];
    if (described === undefined) return [`the type ${type || 'that is missing'} is not described`];
    return this.#schemaFaults(described.schema, /\bjson\b/.test(type) ? json : text, 'the body');
  }

  #schemaFaults(schema: Json, value: unknown, what: string): string[] {
    let validate = this.#validators.get(schema);
    if (validate === undefined) {
      validate = this.#ajv.compile(absolute(schema) as Json);
      this.#validators.set(schema, validate);
    }
    if (validate(value)) return [];
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) =>
        `${what}${instancePath} ${message} ${JSON.stringify(params)}`,
    );
  }

  #resolve(value: unknown): unknown {
    const pointer = (value as { readonly $ref?: string }).$ref;
    if (pointer === undefined) return value;
    const steps = pointer.slice(2).split('/');
    return steps.reduce((found: unknown, step) => (found as Json)[step], this.#document);
  }
}

function prefixesOf(servers: Servers): string[] {
  return servers.map(({ url }) => url.replace(/\/$/, ''));
}

/** A regular expression for a path template, from the schemas of its parameters. */
function patternOf(template: string, schemas: ReadonlyMap<string, Json>): RegExp {
  const pattern = template
    .replaceAll('.', String.raw`\.`)
    .replace(/\{(\w+)\}/g, (_, name: string) => {
      const { type, pattern: own, enum: values } = schemas.get(name) ?? {};
      if (type === 'integer') return String.raw`\d+`;
      const source = Array.isArray(values)
        ? values.map((value) => String(value).replaceAll('.', String.raw`\.`)).join('|')
        : String(own).replace(/^\^|\$$/g, '');
      return `(?:${source})`;
    });
  return new RegExp(`^${pattern}$`);
}

/**
 * The same with every object schema closed: a member that an answer has and the description does
 * not name is a fault, although clients are to bear it.
 */
function closed(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(closed);
  const entries = Object.entries(value).map(([name, each]) => [name, closed(each)] as const);
  const object: Json = Object.fromEntries(entries);
  const isSchema = object['type'] === 'object' && object['properties'] !== undefined;
  return isSchema ? { additionalProperties: false, ...object } : object;
}

/** The same with pointers that ajv finds from any place. */
function absolute(schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map(absolute);
  return Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [
      name,
      name === '$ref' ? `openapi${String(value)}` : absolute(value),
    ]),
  );
}
