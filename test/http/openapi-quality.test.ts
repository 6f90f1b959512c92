/** The API description is OpenAPI 3.1 for an independent validator, and has correct examples. */
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openApiDocument } from '../../src/http/openapi/document.ts';
import { operationTable } from '../../src/http/table.ts';

type Json = Readonly<Record<string, unknown>>;

const SETTINGS = { basePath: '/api', version: '1.2.3', protectBooks: false, maxImport: 1 };

const TEXT = JSON.stringify(openApiDocument(operationTable(SETTINGS), SETTINGS));
const DOCUMENT = JSON.parse(TEXT) as Json;

function components(section: string): Readonly<Record<string, Json>> {
  return (DOCUMENT['components'] as Readonly<Record<string, Readonly<Record<string, Json>>>>)[
    section
  ] as Readonly<Record<string, Json>>;
}

test('an independent validator accepts the description as OpenAPI 3.1', async () => {
  const validator = new Validator();
  const { valid, errors } = await validator.validate(JSON.parse(TEXT));
  assert.ok(valid, JSON.stringify(errors));
  assert.is(validator.version, '3.1');
});

test('the description states the order of checks with the wait for a commit (spec 3.11)', () => {
  const { description } = DOCUMENT['info'] as { readonly description: string };
  const order = 'token, role, the commit of `Catalog-Min-Sequence`, item or parent, `Accept`';
  assert.match(description, order);
});

/** Each example, with a pointer to its schema. */
function examples(): { at: string; value: unknown; schema: string }[] {
  const found: { at: string; value: unknown; schema: string }[] = [];
  const walk = (value: unknown, at: string): void => {
    if (typeof value !== 'object' || value === null) return;
    const { schema, example, examples: several } = value as Json;
    if (schema !== undefined) {
      if (example !== undefined) found.push({ at, value: example, schema: `${at}/schema` });
      for (const each of Object.values(several ?? {}) as Json[]) {
        const shared = components('examples')[String(each['$ref']).split('/').at(-1) ?? ''];
        found.push({ at, value: (shared ?? each)['value'], schema: `${at}/schema` });
      }
    } else if (Array.isArray(several)) {
      for (const each of several) found.push({ at, value: each, schema: at });
    }
    for (const [name, each] of Object.entries(value)) {
      if (!/^examples?$/.test(name)) walk(each, `${at}/${escaped(name)}`);
    }
  };
  walk(DOCUMENT, '#');
  return found;
}

/** A member's name in a JSON pointer that is part of a URI (RFC 6901, section 6). */
function escaped(name: string): string {
  return encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'));
}

test('every schema and every body has an example, and every example is valid', () => {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats(ajv);
  ajv.addSchema(DOCUMENT, 'openapi');
  const all = examples();
  for (const { at, value, schema } of all) {
    const validate = ajv.compile({ $ref: `openapi${schema}` });
    assert.ok(validate(value), `${at}: ${JSON.stringify(validate.errors)}`);
  }
  const shown = new Set(all.map(({ at }) => at));
  const bodies: string[] = Object.keys(components('schemas')).map(
    (name) => `#/components/schemas/${name}`,
  );
  const walk = (value: unknown, at: string): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [name, each] of Object.entries(value)) {
      const below = `${at}/${escaped(name)}`;
      if (name === 'content') {
        bodies.push(...Object.keys(each as Json).map((type) => `${below}/${escaped(type)}`));
      }
      if (!/^examples?$/.test(name)) walk(each, below);
    }
  };
  walk(DOCUMENT, '#');
  assert.ok(bodies.length > 100, `${bodies.length} schemas and bodies`);
  assert.equal(
    bodies.filter((at) => !shown.has(at)),
    [],
  );
});

test('the examples are objects of the demo catalog', () => {
  const sku = components('examples')['Sku']?.['value'] as Json;
  assert.is(sku['name'], 'Auralune Phone 12, silver, 128 GB');
  assert.is(sku['goods'], 'Auralune Phone 12');
  assert.equal(sku['specs'], [
    { spec_id: 1, option_id: 1 },
    { spec_id: 2, option_id: 4 },
  ]);
  const replacement = components('examples')['SkuReplacement']?.['value'] as Json;
  assert.equal(replacement['specs'], [], 'put back what was read, and nothing is added');
});

test('the description has less than 460,000 characters', () => {
  assert.ok(TEXT.length < 460_000, `${TEXT.length} characters`);
});

test.run();
