/** Previews of pages (spec 7.7): the page after a write that is checked but not committed. */
import { CatalogError } from '../../errors.ts';
import type { PreviewService } from '../../http/services.ts';
import type { Kind } from '../../model/kind.ts';
import type { PagePreviews } from '../../pages/refresh/previews.ts';
import { listPage, skuPage } from '../../pages/shop/names.ts';
import { draftWrite } from '../../resources/drafting.ts';
import type { PatchMode } from '../../resources/input.ts';
import type { Store } from '../../store/store.ts';
import { FairQueue } from '../../fair-queue.ts';

/** Previews that are made at a time, and that may wait. */
const MAX_CONCURRENT = 2;
const MAX_WAITING = 20;

export class Previews implements PreviewService {
  readonly #store: Pick<Store, 'freeze' | 'prepareIndexes'>;
  readonly #pages: PagePreviews;
  /** Users take turns. */
  readonly #queue = new FairQueue<string | null>({
    atOnce: MAX_CONCURRENT,
    waiting: MAX_WAITING,
    refusal: tooMany,
  });

  constructor(store: Pick<Store, 'freeze' | 'prepareIndexes'>, pages: PagePreviews) {
    this.#store = store;
    this.#pages = pages;
  }

  page(kind: Kind, body: unknown, mode: PatchMode, subject: string | null): Promise<string> {
    return this.#queue.run(subject, async () => {
      const { id, changes } = await draftWrite(this.#store, kind, body, mode);
      const name = kind.name === 'skus' ? skuPage(id) : listPage('goods', id);
      return this.#pages.render(name, changes);
    });
  }
}

function tooMany(): CatalogError {
  return new CatalogError('busy', 'too many previews at once; try again later');
}
