/** The components of the description: those that operations declare, and those that all share. */
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

/**
 * @param table the paths that are described.
 * @returns every component that the description may refer to; {@link used} selects those that it
 *   does.
 */
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

/** Makes each component once, even if several operations declare it. */
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
    BookAttributes: { summary: 'Attributes of a book', value: attributesExample() },
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
    // The viewer sends every `example`, so only path parameters, which must be sent, have one.
    ...(example !== undefined && { [where === 'path' ? 'example' : 'x-example']: example }),
  };
}

/** The responses that belong to a path rather than to one of its operations. */
function sharedResponses(): Named {
  return {
    Options: {
      description: 'Every method of the path, and the attributes that a client may send.',
      ...headersOf(['Allow', 'Accept-Patch?']),
      content: {
        [JSON_TYPE]: {
          schema: ref('schemas', 'Attributes'),
          examples: { BookAttributes: ref('examples', 'BookAttributes') },
        },
      },
    },
    Unchanged: {
      description:
        'The representation has not changed: `If-None-Match` names its entity tag, or it is not newer than `If-Modified-Since`.',
      ...headersOf(['ETag']),
    },
    SlashMissing: {
      description:
        'A browser requested an HTML page without the final slash of its path. GET and HEAD are redirected.',
      ...headersOf(['Location']),
    },
  };
}

/** Adds to each response its variant without a body, `…Head`. */
function withoutBodies(responses: Named): Named {
  const heads = Object.entries(responses).map(([name, response]) => [
    `${name}Head`,
    Object.fromEntries(Object.entries(response).filter(([member]) => member !== 'content')),
  ]);
  return { ...(Object.fromEntries(heads) as Named), ...responses };
}

/**
 * The components that are referenced, directly or by other components.
 *
 * @throws Error if a reference has no target.
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
