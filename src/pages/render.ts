/** A SKU's detail page from the store's rows. Every value is escaped; `cost_price` never comes in. */
import { createHash } from 'node:crypto';
import nunjucks from 'nunjucks';
import layout from '../../templates/layout.njk' with { type: 'text' };
import sku from '../../templates/sku.njk' with { type: 'text' };
import type { Row, Scalar } from '../model/kind.ts';
import type { View } from '../store/draft.ts';

const SOURCES: Readonly<Record<string, string>> = { layout, sku };

/** Templates from memory: a compiled binary has no files beside it. */
const loader = {
  async: false,
  getSource: (name: string) => ({
    src: SOURCES[name] ?? missing(name),
    path: name,
    noCache: false,
  }),
} as unknown as nunjucks.ILoader;

const environment = new nunjucks.Environment(loader, { autoescape: true, throwOnUndefined: true });

/** The policy under which a page is served: its own style sheet, and pictures. */
export const PAGE_POLICY = [
  "default-src 'none'",
  `style-src '${hashOfStyle(layout)}'`,
  "img-src 'self' https: data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * @returns HTML, or null where there is no such SKU.
 * @throws Error from a template.
 */
export function renderSku(view: View, id: number): string | null {
  const row = view.get('skus', id);
  if (row === undefined) return null;
  const spu = view.get('goods', row['goods_id'] ?? null);
  const brand = view.get('brands', spu?.['brand_id'] ?? null);
  const { cost_price: _, ...shown } = row;
  return environment.render('sku', {
    sku: shown,
    spu: spu ?? { name: '', desc_detail: '', desc_pack: '', desc_service: '' },
    brand: brand ?? null,
    categories: categoryPath(view, row['category_id'] ?? null),
    price: formatAmount(row['price'] ?? 0),
    marketPrice: higher(row['market_price'], row['price']),
    specs: [...specifications(view, id)],
  });
}

/** Names from the first level down. */
function categoryPath(view: View, id: Scalar): Scalar[] {
  const names: Scalar[] = [];
  for (let at = view.get('categories', id); at !== undefined; ) {
    names.unshift(at['name'] ?? '');
    at = view.get('categories', at['parent_id'] ?? null);
  }
  return names;
}

/** One line a specification; a later record of the same one takes the place of an earlier. */
function specifications(view: View, id: number): Iterable<{ name: Scalar; value: Scalar }> {
  const lines = new Map<Scalar, { name: Scalar; value: Scalar }>();
  for (const recordId of view.matching('sku_specs', 'sku_id', id)) {
    const record = view.get('sku_specs', recordId) as Row;
    const spec = view.get('specs', record['spec_id'] ?? null);
    const option = view.get('options', record['option_id'] ?? null);
    if (spec === undefined || option === undefined) continue;
    lines.set(spec.id, { name: spec['name'] ?? '', value: option['value'] ?? '' });
  }
  return lines.values();
}

function higher(market: Scalar | undefined, price: Scalar | undefined): string | null {
  const isHigher = typeof market === 'number' && typeof price === 'number' && market > price;
  return isHigher ? formatAmount(market) : null;
}

/** An amount of the smallest currency unit, a hundredth, with thousands apart: 1,234.50. */
export function formatAmount(amount: Scalar): string {
  const digits = String(amount).padStart(3, '0');
  const whole = digits.slice(0, -2).replace(/\B(?=(?:\d{3})+$)/g, ',');
  return `${whole}.${digits.slice(-2)}`;
}

/** A Content-Security-Policy source that allows the one style sheet of the layout. */
function hashOfStyle(source: string): string {
  const style = /<style>(.*?)<\/style>/s.exec(source)?.[1] ?? '';
  return `sha256-${createHash('sha256').update(style).digest('base64')}`;
}

function missing(name: string): never {
  throw new Error(`there is no template ${name}`);
}
