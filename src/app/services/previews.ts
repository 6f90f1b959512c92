/** Previews of pages (spec 7.7): the page after a write that is checked but not committed. */
import pLimit from 'p-limit';
import { CatalogError } from '../../errors.ts';
import type { PreviewService } from '../../http/services.ts';
import type { Kind } from '../../model/kind.ts';
import type { PagePreviews } from '../../pages/refresh/previews.ts';
import { listPage, skuPage } from '../../pages/shop/names.ts';
import { draftWrite } from '../../resources/drafting.ts';
import type { Store } from '../../store/store.ts';

/** Previews that are made at a time, and that may wait. */
const MAX_CONCURRENT = 2;
const MAX_WAITING = 20;

export class Previews implements PreviewService {
  readonly #store: Pick<Store, 'freeze' | 'prepareIndexes'>;
  readonly #pages: PagePreviews;
  readonly #turns = pLimit(MAX_CONCURRENT);

  constructor(store: Pick<Store, 'freeze' | 'prepareIndexes'>, pages: PagePreviews) {
    this.#store = store;
    this.#pages = pages;
  }

  async page(kind: Kind, body: unknown): Promise<string> {
    if (this.#turns.pendingCount >= MAX_WAITING) {
      throw new CatalogError('busy', 'too many previews at once; try again later', {
        headers: { 'Retry-After': '1' },
      });
    }
    return this.#turns(async () => {
      const { id, changes } = await draftWrite(this.#store, kind, body);
      const name = kind.name === 'skus' ? skuPage(id) : listPage('goods', id);
      return this.#pages.render(name, changes);
    });
  }
}
