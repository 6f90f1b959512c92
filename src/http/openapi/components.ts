/** The components of the description: what the operations of the table declare, and what all share. */
import type { Examples } from '../../resources/examples.ts';
import type { Content, JsonObject, Shape } from '../operations/content.ts';
import type { ResponseDeclaration } from '../operations/operation.ts';
import type { Parameter } from '../operations/parameters.ts';
import type { Path } from '../operations/path.ts';
import { failureResponses } from './failures.ts';
import { headers, headersOf } from './headers.ts';
import { contentObject, parametersOf, responsesOf } from './paths.ts';
import { type Named, ref, type Section } from './refs.ts';
import { attributesExample, sharedShapes } from './schemas.ts';
import { JSON_TYPE } from '../rules/negotiation.ts';

type Components = Readonly<Record<Section, Named>>;

export function componentsOf(table: readonly Path[], examples: Examples): Components {
  const operations = table.flatMap((path) =>
    [...path.operations].map(([method, operation]) => ({ path, method, operation })),
  );
  const responses = operations.flatMap(({ operation }) => responsesOf(operation));
  const contents = [
    ...responses.flatMap(contentsOf),
    ...operations.flatMap(({ operation }) => operation.body.content ?? []),
  ];
  const parameters = [
    ...table.flatMap((path) => path.parameters),
    ...operations.flatMap(({ path, method, operation }) => parametersOf(path, method, operation)),
  ];
  return {
    schemas: schemasOf([
      ...sharedShapes(examples.refusal()),
      ...contents.flatMap(({ shapes }) => shapes),
    ]),
    examples: examplesOf(contents),
    headers: headers(examples),
    parameters: named(parameters, ({ component }) => component, parameterObject),
    responses: withoutBodies({
      ...failureResponses(examples),
      ...sharedResponses(),
      ...named(
        responses,
        ({ name }) => name,
        (response) => ({
          description: response.description,
          ...headersOf(response.headers ?? []),
          ...(response.content && { content: contentObject(...contentsOf(response)) }),
        }),
      ),
    }),
  };
}

function contentsOf({ content, alternative }: ResponseDeclaration): Content[] {
  return [content, alternative].filter((each) => each !== undefined);
}

/** Makes each component once, whatever number of operations declare it. */
function named<T>(
  all: readonly T[],
  nameOf: (each: T) => string,
  make: (each: T) => JsonObject,
): Named {
  const found: Named = {};
  for (const each of all) found[nameOf(each)] ??= make(each);
  return found;
}

function schemasOf(shapes: readonly Shape[]): Named {
  return named(
    shapes,
    ({ name }) => name,
    ({ schema }) => schema(),
  );
}

function examplesOf(contents: readonly Content[]): Named {
  const all = contents.flatMap(({ examples }) => Object.entries(examples));
  return {
    BookAttributes: { summary: 'Of books', value: attributesExample() },
    ...named(
      all,
      ([name]) => name,
      ([, make]) => ({ ...make() }),
    ),
  };
}

function parameterObject({ name, in: where, description, schema, example }: Parameter): JsonObject {
  return {
    name,
    in: where,
    ...(where === 'path' && { required: true }),
    description,
    schema,
    // The viewer would send an example with every request; a placeholder of the path has to be sent.
    ...(example !== undefined && { [where === 'path' ? 'example' : 'x-example']: example }),
  };
}

/** The responses that come with a path rather than with one of its operations. */
function sharedResponses(): Named {
  return {
    Options: {
      description: 'Every method of the path, and the attributes that a client may send.',
      ...headersOf(['Allow']),
      content: {
        [JSON_TYPE]: {
          schema: ref('schemas', 'Attributes'),
          examples: { BookAttributes: ref('examples', 'BookAttributes') },
        },
      },
    },
    Unchanged: {
      description: '`If-None-Match` names the representation as it is.',
      ...headersOf(['ETag']),
    },
    SlashMissing: {
      description:
        'A page for people whose path ends with a slash was asked for without it by a browser: GET and HEAD are redirected.',
      ...headersOf(['Location']),
    },
  };
}

/** The same with a response without a body, `…Head`, beside each. */
function withoutBodies(responses: Named): Named {
  const heads = Object.entries(responses).map(([name, response]) => [
    `${name}Head`,
    Object.fromEntries(Object.entries(response).filter(([member]) => member !== 'content')),
  ]);
  return { ...(Object.fromEntries(heads) as Named), ...responses };
}

/**
 * The components that are pointed at, directly or by others.
 *
 * @throws Error if a pointer leads nowhere.
 */
export function used(from: JsonObject, components: Readonly<Record<string, Named>>): JsonObject {
  const kept: Record<string, Named> = {};
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, each] of Object.entries(value)) {
      if (key === '$ref') keep(String(each));
      else visit(each);
    }
  };
  const keep = (pointer: string): void => {
    const [section = '', name = ''] = pointer.split('/').slice(2);
    if (kept[section]?.[name] !== undefined) return;
    const component = components[section]?.[name];
    if (component === undefined) throw new Error(`${pointer} leads nowhere`);
    (kept[section] ??= {})[name] = component;
    visit(component);
  };
  visit(from);
  return kept;
}
