/** Custom templates: they replace the built-in ones, and their errors are reported. */
import { mkdirSync, readdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { rebuildPagesCommand } from '../../src/cli/commands/rebuild-pages.ts';
import { messageOf } from '../../src/errors.ts';
import { createCatalog, make, pageWith, skuFields } from '../support/catalog.ts';
import { send } from '../support/client.ts';
import { directoryWith, temporaryDirectory } from '../support/directory.ts';
import { closeServices, contextOf, openService, type Service } from '../support/service.ts';
import { faultsOf, folderOf } from '../support/shop.ts';
import { until } from '../support/until.ts';

test.after(closeServices);

function serverWith(directory: string, data = temporaryDirectory()): Promise<Service> {
  return openService({ data, pages: { templates: directory } });
}

function pageOf(server: Service, name: string): string {
  return folderOf(server.data).get(name) ?? '';
}

/** Runs `rebuild-pages`. @returns what it prints, and the error with which it ends. */
async function rebuild(data: string): Promise<{ printed: string; error: string }> {
  let printed = '';
  const context = { ...contextOf(), print: (line: string) => void (printed += line) };
  const options = { data, stale: false, ids: null, pages: {} };
  const error = await rebuildPagesCommand(options, context).then(() => '', messageOf);
  return { printed, error };
}

test('a template replaces the built-in one of the same name, and can extend the others', async () => {
  const directory = directoryWith({
    'sku.njk':
      '{% extends "layout.njk" %}{% block main %}<h1>Ours: {{ sku.name }}</h1>{% endblock %}',
    'style.css': 'body { color: teal }\n',
    'README.txt': 'no template',
  });
  const server = await serverWith(directory);
  const of = await createCatalog(server);
  await pageWith(server, of.sku, '<h1>Ours: Phone, silver</h1>');
  await until('every page is written', () => faultsOf(server.data).length === 0);
  const page = pageOf(server, `skus/${of.sku}.html`);
  assert.match(page, '<title>Phone, silver · Catalog</title>');
  assert.not.match(page, 'class="price"');
  await until('the lists are as they were', () =>
    /64\d\.00/.test(pageOf(server, `goods/${of.spu}.html`)),
  );
  const style = await send(server, 'GET', '/pages/style.css', { token: null });
  assert.is(style.text, 'body { color: teal }\n');
  // Another style sheet has another URL, so that no cache combines an old one with a new page.
  const address = (text: string) => /style\.css\?v=[0-9a-f]+/.exec(text)?.[0];
  const own = address(page);
  assert.ok(own);
  await server.stop();
  const plain = await openService({ data: server.data });
  await until('the built-in ones are back', () => faultsOf(plain.data).length === 0);
  assert.is.not(address(pageOf(plain, `skus/${of.sku}.html`)), own);
  await plain.stop();
});

test('a template picture.njk is enough to show pictures, and its values are escaped', async () => {
  const picture = '<img src="https://cdn.example/{{ sku.id }}.jpg" alt="{{ sku.name }}">';
  const server = await serverWith(directoryWith({ 'picture.njk': picture }));
  const of = await createCatalog(server);
  const page = await pageWith(server, of.sku, '</html>');
  const { id } = await make(server, '/admin/skus/', skuFields(of, { name: '"><b>' }));
  assert.match(page, `<img src="https://cdn.example/${of.sku}.jpg" alt="Phone, silver">`);
  assert.match(await pageWith(server, id, '</html>'), 'alt="&quot;&gt;&lt;b&gt;">');
  assert.not.match(page, '<svg');
  await server.stop();
});

test('a template does not get the cost price', async () => {
  const server = await serverWith(
    directoryWith({ 'sku.njk': '{% for key, value in sku %}{{ key }} {% endfor %}' }),
  );
  const of = await createCatalog(server);
  const page = await pageWith(server, of.sku, 'market_price');
  assert.not.match(page, 'cost');
  await server.stop();
});

test('a template that is edited while the server runs takes effect at the next start', async () => {
  const directory = directoryWith({ 'sku.njk': 'first {{ sku.name }}' });
  const first = await serverWith(directory);
  const of = await createCatalog(first);
  await until('the pages are there', () => faultsOf(first.data).length === 0);
  await first.stop();
  const page = `skus/${of.sku}.html`;
  // This server has rendered no page yet when the template changes.
  const second = await serverWith(directory, first.data);
  writeFileSync(join(directory, 'sku.njk'), 'second {{ sku.name }}');
  const body = { name: 'Renamed' };
  assert.is((await send(second, 'PATCH', `/admin/skus/${of.sku}/`, { body })).status, 200);
  await until('the page is new', () => pageOf(second, page).includes('Renamed'));
  assert.is(pageOf(second, page), 'first Renamed');
  await second.stop();
  const third = await serverWith(directory, first.data);
  await until('the template is new', () => pageOf(third, page) === 'second Renamed');
  assert.equal([...first.log, ...second.log, ...third.log], []);
  await third.stop();
});

test('a new page whose template is broken is 500 until it can be rendered, not 404', async () => {
  const directory = directoryWith({ 'sku.njk': '{{ nobody }}' });
  const server = await serverWith(directory);
  const of = await createCatalog(server);
  const path = `/pages/skus/${of.sku}.html`;
  for (const method of ['GET', 'HEAD']) {
    assert.is((await send(server, method, path, { token: null })).status, 500, method);
  }
  const { json } = await send(server, 'GET', path, { token: null });
  assert.is(json.error, 'internal server error');
  const unknown = await send(server, 'GET', '/pages/skus/4711.html', { token: null });
  assert.is(unknown.status, 404);
  await server.stop();
});

interface Broken {
  readonly what: string;
  readonly file: string;
  readonly text: string;
  /** What the message must say after the directory. */
  readonly says: string;
}

const BROKEN: readonly Broken[] = [
  {
    what: 'a tag that is never closed',
    file: 'sku.njk',
    text: '<h1>\n{% if sku %}\n{{ sku.name }}\n</h1>\n',
    says: '/sku.njk:4: parseIf: expected elif, else, or endif, got end of file',
  },
  {
    what: 'an unknown tag',
    file: 'sku.njk',
    text: '<h1>\n</h1>\n{% nonsense %}\n',
    says: '/sku.njk:3: unknown block tag: nonsense',
  },
  {
    what: 'a value that does not exist',
    file: 'sku.njk',
    text: '<h1>\n\n{{ nobody.name }}\n</h1>\n',
    says: '/sku.njk:3: attempted to output null or undefined',
  },
  {
    what: 'a call of a value that is not a function',
    file: 'sku.njk',
    text: '{% extends "layout.njk" %}\n{% block main %}\n{{ sku.name() }}\n{% endblock %}\n',
    says: '/sku.njk:3: Unable to call',
  },
  {
    what: 'a template that does not exist',
    file: 'sku.njk',
    text: '{% extends "lay.njk" %}\n',
    says: '/sku.njk:1: template not found: lay.njk',
  },
  {
    what: 'a block that the layout does not have',
    file: 'sku.njk',
    text: '{% extends "layout.njk" %}\n{% block contnet %}\n<h1>Ours</h1>\n{% endblock %}\n',
    says: '/sku.njk:2: no block is called contnet in a template that this one extends; there are main, meta, title',
  },
  {
    // nunjucks throws this error at a place where it cannot be caught.
    what: 'a syntax error in an included template',
    file: 'picture.njk',
    text: '<b>\n\n{% if %}\n',
    says: '/picture.njk:3: unexpected token: %}',
  },
  {
    what: 'a missing value in an included template',
    file: 'picture.njk',
    text: '<b>\n\n{{ nobody }}\n',
    says: '/picture.njk:3: attempted to output null or undefined',
  },
];

for (const { what, file, text, says } of BROKEN) {
  test(`${what} is reported with file and line, and the old page is kept`, async () => {
    const first = await openService();
    const of = await createCatalog(first);
    await until('the pages are there', () => faultsOf(first.data).length === 0);
    await first.stop();
    const page = `skus/${of.sku}.html`;
    const old = pageOf(first, page);
    assert.ok(old);
    const directory = directoryWith({ [file]: text });
    const server = await serverWith(directory, first.data);
    await until('it is reported', () => server.log.length > 0);
    const [message = ''] = server.log;
    assert.match(message, /^a page could not be written/);
    assert.ok(message.includes(`${page}: ${directory}${says}`), message);
    // The server continues, and so do the pages of other templates.
    const body = { name: 'Renamed' };
    assert.is((await send(server, 'PATCH', `/admin/skus/${of.sku}/`, { body })).status, 200);
    const list = `goods/${of.spu}.html`;
    await until('the list is new', () => pageOf(server, list).includes('>Renamed</a>'));
    assert.is(pageOf(server, page), old);
    await server.stop();

    const rebuilt = await rebuild(server.data);
    assert.ok(rebuilt.error.includes(`${page}: ${directory}${says}`), rebuilt.error);
    assert.match(rebuilt.printed, /, 1 failed in/);
    assert.is(pageOf(server, page), old);

    rmSync(join(directory, file));
    writeFileSync(join(directory, 'style.css'), '');
    assert.is((await rebuild(server.data)).error, '');
    assert.match(pageOf(server, page), '<h1>Renamed</h1>');
  });
}

test('a directory without templates, a missing or a large one, a file, a device and a broken link end the start', async () => {
  const data = temporaryDirectory();
  const empty = directoryWith({ 'README.txt': '' });
  const large = directoryWith({ 'sku.njk': '' });
  mkdirSync(join(large, 'pictures'));
  for (const name of ['a', 'b']) {
    writeFileSync(join(large, 'pictures', name), '');
    truncateSync(join(large, 'pictures', name), 9 * 2 ** 20);
  }
  const device = directoryWith({ 'sku.njk': '' });
  symlinkSync('/dev/null', join(device, 'null'));
  const broken = directoryWith({ 'spu.njk': '' });
  symlinkSync(join(broken, 'none'), join(broken, 'sku.njk'));
  for (const [directory, says] of [
    [empty, 'holds no template; the names are brand.njk'],
    [join(empty, 'none'), 'there is no directory '],
    [join(empty, 'README.txt'), 'cannot be read'],
    [device, 'there is a pipe or a device where a file is expected: move it away'],
    [broken, 'sku.njk is a symbolic link to a file that is missing'],
    [large, 'holds more than 16 MiB; keep only templates in it'],
  ] as const) {
    try {
      await openService({ data, pages: { templates: directory } });
      assert.unreachable('it was opened');
    } catch (error) {
      const { message } = error as Error;
      assert.ok(message.includes(directory) && message.includes(says), message);
    }
    assert.equal(readdirSync(data), [], 'and no store is made');
  }
});

test.run();
