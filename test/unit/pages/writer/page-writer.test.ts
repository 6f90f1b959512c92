/** src/pages/writer/page-writer.ts: which pages are rendered, read and written. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Disk } from '../../../../src/disk/disk.ts';
import { messageOf } from '../../../../src/errors.ts';
import { Gatherer } from '../../../../src/pages/shop/gather.ts';
import { type Prepared, Renderer } from '../../../../src/pages/render/renderer.ts';
import { TemplateSources } from '../../../../src/pages/render/template-sources.ts';
import { Templates } from '../../../../src/pages/render/templates.ts';
import { wordsOf } from '../../../../src/pages/render/words.ts';
import { PageList } from '../../../../src/pages/shop/page-list.ts';
import type { PageSettings } from '../../../../src/pages/shop/settings.ts';
import { createWriter } from '../../../../src/pages/writer/create-writer.ts';
import { type PageResult, PageWriter } from '../../../../src/pages/writer/page-writer.ts';
import { atOnce } from '../../../../src/slices.ts';
import { memoryDisk } from '../../../support/memory-disk.ts';
import { add, change, MemoryStore } from '../../../support/memory-store.ts';
import { addChain, addSku, addSpu, freshPages, SETTINGS } from '../../../support/shop.ts';

const BOOT_ID = '/proc/sys/kernel/random/boot_id';

/** Counts the pages that it renders. */
class CountingRenderer extends Renderer {
  rendered = 0;

  override render(page: Prepared): string {
    this.rendered += 1;
    return super.render(page);
  }
}

/** A folder of pages of one SPU with two SKUs, which records the pages that are read. */
class Folder {
  readonly store = new MemoryStore();
  readonly files: Map<string, string>;
  /** Pages that were read, by name. */
  readonly read: string[] = [];
  boot = 'first';
  /** Files that another user has written, by path. */
  readonly foreign = new Set<string>();
  readonly disk: Disk;

  constructor() {
    this.store.commit([
      (transaction) => {
        add(transaction, 'brands', { name: 'Oak', logo: '', first_letter: '' });
        addSpu(transaction, 'Table', 1, addChain(transaction, 'Wood'));
        addSku(transaction, 'Small', 1, 3);
        addSku(transaction, 'Large', 1, 3);
      },
    ]);
    const { disk, files } = memoryDisk();
    this.files = files;
    const pieces: Buffer[] = [];
    this.disk = {
      ...disk,
      read: (path) => {
        if (path === BOOT_ID) return Buffer.from(this.boot);
        if (this.foreign.has(path)) throw new Error('EACCES: permission denied');
        if (path.startsWith('pages/')) this.read.push(path.slice('pages/'.length));
        const text = files.get(path);
        return text === undefined ? null : Buffer.from(text, 'latin1');
      },
      create: async () => 1,
      write: (_, bytes) => void pieces.push(Buffer.from(bytes)),
      close() {},
      writeNew: async (path, bytes) => void files.set(path, Buffer.from(bytes).toString('latin1')),
      rename: async (from, to) => {
        if (to === 'pages.manifest') {
          files.set(to, Buffer.concat(pieces.splice(0)).toString('latin1'));
        } else await disk.rename(from, to);
      },
    };
  }

  writer(settings: Partial<PageSettings> = {}): PageWriter {
    return createWriter(this.disk, '', { ...SETTINGS, ...settings });
  }

  /** Makes all pages. @returns how many had each result. */
  async make(writer: PageWriter, always = false): Promise<Record<string, number>> {
    const gatherer = new Gatherer(this.store, this.store);
    const counts: Record<string, number> = {};
    for (const name of new PageList(true).all(this.store)) {
      const { shared, own } = atOnce(gatherer.facts(name));
      for (const result of await writer.make([{ shared, pages: [{ name, own }] }], always)) {
        counts[outcomeOf(result)] = (counts[outcomeOf(result)] ?? 0) + 1;
      }
    }
    return counts;
  }

  get size(): number {
    return freshPages(this.store).size;
  }
}

function outcomeOf(result: PageResult): string {
  return typeof result === 'string' ? result : result.message;
}

const STATE = { sequence: 1, digest: 'd' };

test('a page whose inputs and stat match its record is not read', async () => {
  const folder = new Folder();
  const writer = folder.writer();
  assert.equal(await folder.make(writer), { written: folder.size });
  folder.read.length = 0;
  assert.equal(await folder.make(writer), { unchanged: folder.size });
  assert.equal(folder.read, []);
  await writer.save(STATE);
  assert.equal(await folder.make(folder.writer()), { unchanged: folder.size });
  assert.equal(folder.read, [], 'not after a restart either');
});

test('a page whose inputs and stat match its record is not rendered', async () => {
  const folder = new Folder();
  const templates = new Templates(
    new TemplateSources(folder.disk, SETTINGS.templates),
    wordsOf(SETTINGS.locale),
  );
  const renderer = new CountingRenderer(templates, SETTINGS);
  const writer = new PageWriter(folder.disk, '', renderer, 'fingerprint');
  await folder.make(writer);
  assert.is(renderer.rendered, folder.size);
  assert.equal(await folder.make(writer), { unchanged: folder.size });
  assert.is(renderer.rendered, folder.size);
});

test('without a manifest every page is compared, and none is written', async () => {
  const folder = new Folder();
  await folder.make(folder.writer());
  assert.equal(await folder.make(folder.writer()), { unchanged: folder.size });
  assert.is(folder.read.length, 2 * folder.size);
});

test('a manifest and a page that cannot be read count as missing', async () => {
  const folder = new Folder();
  const writer = folder.writer();
  await folder.make(writer);
  await writer.save(STATE);
  folder.foreign.add('pages.manifest').add('pages/skus/1.html');
  const again = folder.writer();
  assert.not.ok(await again.knows(STATE));
  assert.equal(await folder.make(again), { written: 1, unchanged: folder.size - 1 });
});

test('a change of a row writes only the pages that show it', async () => {
  const folder = new Folder();
  const writer = folder.writer();
  await folder.make(writer);
  folder.store.commit([(transaction) => change(transaction, 'skus', 1, { price: 5 })]);
  // The SKU, its SPU and its category; the page of the other SKU does not show its price.
  assert.equal(await folder.make(writer), { written: 3, unchanged: folder.size - 3 });
});

test('a file that another process has written is compared, despite the record', async () => {
  const folder = new Folder();
  const [ours, theirs] = [folder.writer(), folder.writer()];
  await folder.make(ours);
  const before = { name: 'Small' };
  folder.store.commit([(transaction) => change(transaction, 'skus', 1, { name: 'Other' })]);
  await folder.make(theirs);
  folder.store.commit([(transaction) => change(transaction, 'skus', 1, before)]);
  assert.equal((await folder.make(ours))['written'], 3);
  assert.match(folder.files.get('pages/skus/1.html') ?? '', '<h1>Small</h1>');
});

test('a saved state is known only with the same settings, and until it is removed', async () => {
  const folder = new Folder();
  const writer = folder.writer();
  await folder.make(writer);
  await writer.save(STATE);
  assert.is(await folder.writer().knows(STATE), true);
  assert.is(await folder.writer().knows({ ...STATE, sequence: 2 }), false);
  assert.is(await folder.writer().knows({ ...STATE, digest: 'e' }), false);
  assert.is(await folder.writer({ shopName: 'Other' }).knows(STATE), false);
  await writer.save(null);
  assert.is(await folder.writer().knows(STATE), false);
});

test('damaged files are found by their stat, and after another boot by their bytes', async () => {
  const folder = new Folder();
  const writer = folder.writer();
  await folder.make(writer);
  await writer.save(STATE);
  const page = folder.files.get('pages/skus/1.html') ?? '';
  folder.files.set('pages/skus/2.html', '');
  folder.files.delete('pages/goods/1.html');
  folder.files.set('pages/skus/4711.html', 'x');
  const found = await folder.writer().damaged(true);
  assert.equal(found.names.toSorted(), ['goods/1.html', 'skus/2.html']);
  assert.ok(found.isLast);
  assert.equal((await folder.writer().present(true, true)).names, ['skus/4711.html']);
  // Same size and stat, but other bytes, as after a power loss.
  folder.files.set('pages/skus/1.html', page.replace('Small', '\0\0\0\0\0'));
  assert.not.ok((await folder.writer().damaged(true)).names.includes('skus/1.html'));
  folder.boot = 'second';
  const after = await folder.writer().damaged(true);
  assert.equal(after.names.toSorted(), ['goods/1.html', 'skus/1.html', 'skus/2.html']);
});

test('after another boot each file is read once, and not again at the next start', async () => {
  const folder = new Folder();
  const before = folder.writer();
  await folder.make(before);
  await before.save(STATE);
  folder.boot = 'second';
  folder.read.length = 0;
  const first = folder.writer();
  assert.equal((await first.damaged(true)).names, []);
  assert.is(folder.read.length, folder.size);
  await first.save(STATE);
  folder.read.length = 0;
  assert.equal((await folder.writer().damaged(true)).names, []);
  assert.equal(folder.read, []);
});

test('a list that another writer has begun fails instead of ending early', async () => {
  const folder = new Folder();
  await folder.make(folder.writer());
  for (const call of [
    () => folder.writer().damaged(false),
    () => folder.writer().present(false, true),
  ]) {
    const message = await call().then(String, messageOf);
    assert.is(message, 'the rest of a list of pages is lost');
  }
});

test('a page to be sent is rendered only if its file is not current, and is not written', async () => {
  const folder = new Folder();
  const writer = folder.writer();
  await folder.make(writer);
  const factsOf = (name: string) => atOnce(new Gatherer(folder.store, folder.store).facts(name));
  assert.is(await writer.render(factsOf('skus/1.html')), 'current');
  assert.is(await writer.render(factsOf('skus/99.html')), null);
  folder.store.commit([(transaction) => change(transaction, 'skus', 1, { name: 'Tiny' })]);
  const rendered = await writer.render(factsOf('skus/1.html'));
  assert.ok(rendered !== null && typeof rendered === 'object' && 'text' in rendered);
  assert.match(rendered.text, '<h1>Tiny</h1>');
  assert.match(folder.files.get('pages/skus/1.html') ?? '', '<h1>Small</h1>');
});

test.run();
