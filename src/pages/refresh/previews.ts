/** Previews: pages as they would be after changes that are not committed (spec 7.7). */
import { CatalogError } from '../../errors.ts';
import type { Change } from '../../model/change.ts';
import type { ReadableStore } from '../../store/readable-store.ts';
import { type Catalog, SOUGHT_BY_PAGES } from '../shop/catalog.ts';
import { Gatherer } from '../shop/gather.ts';
import type { PageName } from '../shop/names.ts';
import { OverlaidCatalog } from '../shop/overlay.ts';
import type { PageMaker } from '../writer/page-writer.ts';
import { PageBatches } from './batches.ts';

interface PreviewOptions {
  readonly catalog: Catalog & Pick<ReadableStore, 'prepareIndexes'>;
  readonly maker: PageMaker;
  /** Lets other work of the thread run. */
  readonly turn: () => Promise<void>;
  /** The prefix of links to other pages, such as `/pages/`. */
  readonly root: string;
}

export class PagePreviews {
  readonly #options: PreviewOptions;

  constructor(options: PreviewOptions) {
    this.#options = options;
  }

  /**
   * @param changes that the page is to show on top of the store's rows.
   * @returns the page's text.
   * @throws CatalogError `page_failed` if it cannot be rendered.
   */
  async render(name: PageName, changes: readonly Change[]): Promise<string> {
    const { catalog, maker, turn, root } = this.#options;
    await catalog.prepareIndexes(SOUGHT_BY_PAGES);
    const gatherer = new Gatherer(new OverlaidCatalog(catalog, changes), null);
    const facts = await new PageBatches(gatherer, maker, turn).facts(name);
    const result = await maker.preview(facts, root);
    if (result !== null && 'text' in result) return result.text;
    throw new CatalogError('page_failed', result?.message ?? `there is no page ${name}`);
  }
}
