/** The demo catalog as clients see it and send it: examples for the description of the service. */
import demo from '../../data/demo.json' with { type: 'json' };
import { CatalogError, type FieldErrors } from '../errors.ts';
import type { Kind, KindName, Row } from '../model/kind.ts';
import { KINDS } from '../model/kinds.ts';
import type { RowOf } from '../model/rows.ts';
import { price } from '../model/schemas.ts';
import type { View } from '../store/view.ts';
import { perKind } from '../model/per-kind.ts';
import { RowTable } from '../store/memory/row-table.ts';
import { changeOf } from '../model/change.ts';
import { Tables } from '../store/memory/tables.ts';
import { entryOf } from './audit.ts';
import { atOnce } from '../slices.ts';
import { parseInput } from './input.ts';
import { represent } from './represent.ts';
import { visibleAttributes } from './visible-attributes.ts';

type JsonObject = Readonly<Record<string, unknown>>;

const DEMO: { readonly [K in KindName]?: readonly RowOf<K>[] } = demo;

const WEBHOOK: RowOf<'webhooks'> = {
  id: 1,
  url: 'https://shop.example/hooks/catalog',
  resources: '["skus"]',
  active: true,
  created: '2026-11-02T08:15:00.000Z',
  failing_since: null,
  origin: 0,
  key: '',
};

export class Examples {
  readonly #rows = { ...DEMO, audits: auditEntries(), webhooks: [WEBHOOK] };
  readonly #view: View = new Tables(perKind(({ name }) => new RowTable(this.#rows[name] ?? [])));

  /** The first objects of a kind. */
  objects(kind: Kind, count: number): JsonObject[] {
    return this.#rowsOf(kind)
      .slice(0, count)
      .map((row) => JSON.parse(represent(kind, row, this.#view).text) as JsonObject);
  }

  /** The entity tag of the first object of a kind. */
  etag(kind: Kind): string {
    const [row] = this.#rowsOf(kind);
    if (row === undefined) throw new Error(`the demo catalog has no ${kind.plural}`);
    return represent(kind, row, this.#view).etag;
  }

  /** Bodies that create the first objects of a kind. */
  inputs(kind: Kind, count: number): JsonObject[] {
    return this.objects(kind, count).map((object) => inputOf(kind, object, true));
  }

  /** A body that replaces the first object of a kind by itself, without adding rows to it. */
  replacement(kind: Kind): JsonObject {
    const [object = {}] = this.objects(kind, 1);
    return inputOf(kind, object, false);
  }

  /** Bodies that change one attribute of the first objects of a kind, each with its id. */
  changes(kind: Kind, count: number): JsonObject[] {
    const name = changedAttribute(kind);
    return this.objects(kind, count).map((object) => ({ id: object['id'], [name]: object[name] }));
  }

  /** The response to a body that is wrong in two places. */
  refusal(): { readonly error: string; readonly fields: FieldErrors } {
    try {
      atOnce(parseInput(KINDS.skus, { price: '649.00', stock: -1 }, 'partial'));
    } catch (error) {
      if (error instanceof CatalogError && error.fields !== undefined) {
        return { error: error.message, fields: error.fields };
      }
      throw error;
    }
    throw new Error('a SKU with a text for a price is refused');
  }

  #rowsOf({ name }: Kind): readonly Row[] {
    return this.#rows[name] ?? [];
  }
}

/** The audit entries of the first brand as if it had been created and deleted. */
function auditEntries(): readonly Row[] {
  const [row] = DEMO.brands ?? [];
  if (row === undefined) throw new Error('the demo catalog has no brands');
  const author = { subject: 'ann', time: Date.UTC(2026, 10, 2, 8, 15) };
  const changes = [changeOf('brands', row.id, null, row), changeOf('brands', row.id, row, null)];
  return changes.map((each, index) => ({ id: index + 1, ...entryOf(each, author) }));
}

function inputOf(kind: Kind, object: JsonObject, withOwned: boolean): JsonObject {
  const input: Record<string, unknown> = {};
  for (const [name, declared] of visibleAttributes(kind)) {
    if (declared.role === 'input') input[declared.request ?? name] = object[name];
    else if (declared.role === 'children') input[name] = withOwned ? object[name] : [];
  }
  return input;
}

/** A price if there is one: lists of changes are mostly price lists. */
function changedAttribute(kind: Kind): string {
  const written = visibleAttributes(kind).flatMap(([name, declared]) =>
    declared.role === 'input' ? [{ name, schema: declared.schema }] : [],
  );
  const [name] = [...written.filter(({ schema }) => schema === price), ...written].map(
    (each) => each.name,
  );
  if (name === undefined) throw new Error(`${kind.plural} have nothing to change`);
  return name;
}
