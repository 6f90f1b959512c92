/** What the description says of requests that succeed: bodies, responses and their examples. */
import type { Kind } from '../../model/kind.ts';
import { KINDS } from '../../model/kinds.ts';
import type { Examples } from '../../resources/examples.ts';
import { describeAttributes, indexDocument } from '../endpoints/description.ts';
import { JSON_TYPE, VENDOR_TYPE } from '../rules/negotiation.ts';
import { headersOf } from './headers.ts';
import {
  capitalised,
  componentName,
  type JsonObject,
  type Named,
  REACHABLE,
  ref,
  WRITABLE,
  without,
} from './names.ts';
import { beginning } from './schemas.ts';

/** A response that has a body, by the names of its own headers. */
export function response(
  description: string,
  own: readonly string[],
  content?: JsonObject,
): JsonObject {
  return { description, ...headersOf(own), ...(content && { content }) };
}

/**
 * A JSON body in both media types, or in the plain one alone.
 *
 * @param shown names of examples.
 */
export function jsonBody(
  schema: JsonObject,
  shown: readonly string[],
  types: readonly string[] = [JSON_TYPE, VENDOR_TYPE],
): JsonObject {
  const examples = Object.fromEntries(shown.map((name) => [name, ref('examples', name)]));
  return Object.fromEntries(types.map((type) => [type, { schema, examples }]));
}

/** An array of objects with this schema. */
export function arrayOf(schema: string, more: JsonObject = {}): JsonObject {
  return { type: 'array', items: ref('schemas', schema), ...more };
}

/** One or several. */
export function oneOrMany(schema: string): JsonObject {
  return { oneOf: [ref('schemas', schema), arrayOf(schema, { minItems: 1 })] };
}

/** Every response of a request that succeeds, by its name. */
export function successResponses(): Named {
  const found: Named = {
    Options: response(
      'Every method of the path, and the attributes that a client may send.',
      ['Allow'],
      jsonBody(ref('schemas', 'Attributes'), ['BookAttributes'], [JSON_TYPE]),
    ),
    Unchanged: response('`If-None-Match` names the representation as it is.', ['ETag']),
    Deleted: response('Deleted.', []),
    ListHead: response('There is such a page.', ['X-Total-Count']),
    ItemHead: response('There is such an item.', ['ETag']),
  };
  for (const kind of REACHABLE) Object.assign(found, kindResponses(kind));
  return found;
}

function kindResponses(kind: Kind): Named {
  const name = componentName(kind);
  const { label, plural } = kind;
  const one = ref('schemas', name);
  const created = ['Location', 'ETag', 'Idempotent-Replayed?'];
  return {
    [name]: response(`The ${label}.`, ['ETag'], jsonBody(one, [name])),
    [`${name}List`]: response(
      `A page of ${plural}.`,
      ['X-Total-Count'],
      jsonBody(arrayOf(name), [`${name}List`]),
    ),
    [`${name}Created`]: kind.bulk
      ? response(
          `The new ${label}, or the new ${plural} in the order of the request.`,
          created.map((header) => `${header.replace('?', '')}?`),
          jsonBody(oneOrMany(name), [name, `${name}List`]),
        )
      : response(`The new ${label}.`, created, jsonBody(one, [name])),
    [`${name}ListChanged`]: response(
      `The ${plural} in the order of the request.`,
      [],
      jsonBody(arrayOf(name), [`${name}List`]),
    ),
  };
}

const example = (summary: string, value: unknown) => ({ summary, value });

/** Every example by its name, from the demo catalog. */
export function exampleComponents(examples: Examples, basePath: string, version: string): Named {
  const found: Named = {
    Index: example('The index', indexDocument(basePath, version)),
    Description: example('The beginning', beginning(version)),
    BookAttributes: example('Of books', describeAttributes(KINDS.books, ['POST'])),
    Page: example('A page', '<!doctype html>\n<html lang="en">…</html>\n'),
  };
  for (const kind of REACHABLE) {
    const name = componentName(kind);
    Object.assign(found, {
      [name]: example(capitalised(kind.label), examples.objects(kind, 1)[0]),
      [`${name}List`]: example(capitalised(kind.plural), examples.objects(kind, 2)),
    });
  }
  for (const kind of WRITABLE) {
    const name = componentName(kind);
    const { label, plural } = kind;
    const [change = {}] = examples.changes(kind, 1);
    Object.assign(found, {
      [`${name}Input`]: example(`One ${label}`, examples.inputs(kind, 1)[0]),
      [`${name}InputList`]: example(`Several ${plural}, all or none`, examples.inputs(kind, 2)),
      [`${name}Replacement`]: example(capitalised(label), examples.replacement(kind)),
      [`${name}Patch`]: example('One attribute', without(change, 'id')),
      [`${name}UpdateList`]: example(`Two ${plural}`, examples.changes(kind, 2)),
    });
  }
  return found;
}
