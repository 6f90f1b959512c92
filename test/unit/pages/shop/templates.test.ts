/** The operator's own templates: in place of the built-in ones, and what their errors say. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { machineDisk } from '../../../../src/disk/disk.ts';
import { TEMPLATE_NAMES, Templates } from '../../../../src/pages/shop/templates.ts';
import { createCatalog, make, pageWith, skuFields } from '../../../support/catalog.ts';
import { send } from '../../../support/client.ts';
import { temporaryDirectory } from '../../../support/directory.ts';
import { killServers, runCommand, startServer, type TestServer } from '../../../support/server.ts';
import { until } from '../../../support/until.ts';
import { faultsOf, folderOf } from '../../../support/shop.ts';

test.after(killServers);

/** A directory with these templates. */
function templates(files: Readonly<Record<string, string>>): string {
  const directory = temporaryDirectory();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  return directory;
}

async function serverWith(directory: string, data?: string): Promise<TestServer> {
  const args = ['--templates', directory];
  return startServer(data === undefined ? { args } : { args, data });
}

function pageOf(server: TestServer, name: string): string {
  return folderOf(server.data).get(name) ?? '';
}

test('a template takes the place of the one of its name, and may build on the others', async () => {
  const directory = templates({
    'sku.njk':
      '{% extends "layout.njk" %}{% block main %}<h1>Ours: {{ sku.name }}</h1>{% endblock %}',
    'style.css': 'body { color: teal }\n',
    'README.txt': 'no template',
  });
  const server = await serverWith(directory);
  const of = await createCatalog(server);
  await pageWith(server, of.sku, '<h1>Ours: Phone, silver</h1>');
  const page = pageOf(server, `skus/${of.sku}.html`);
  assert.match(page, '<title>Phone, silver · Catalog</title>');
  assert.not.match(page, 'class="price"');
  await until('the lists are as they were', () =>
    /64\d\.00/.test(pageOf(server, `goods/${of.spu}.html`)),
  );
  const style = await send(server, 'GET', '/pages/style.css', { token: null });
  assert.is(style.text, 'body { color: teal }\n');
  // Another style sheet has another address: no cache puts the old one beside a new page.
  const address = (text: string) => /style\.css\?v=[0-9a-f]+/.exec(text)?.[0];
  const own = address(page);
  assert.ok(own);
  assert.is((await server.stop()).status, 0);
  const plain = await startServer({ data: server.data });
  await until('the built-in ones are back', () => faultsOf(plain.data).length === 0);
  assert.is.not(address(pageOf(plain, `skus/${of.sku}.html`)), own);
  await plain.stop();
});

test('a picture of its own is all that a shop has to add for pictures', async () => {
  const picture = '<img src="https://cdn.example/{{ sku.id }}.jpg" alt="{{ sku.name }}">';
  const server = await serverWith(templates({ 'picture.njk': picture }));
  const of = await createCatalog(server);
  const page = await pageWith(server, of.sku, '</html>');
  const { id } = await make(server, '/admin/skus/', skuFields(of, { name: '"><b>' }));
  assert.match(page, `<img src="https://cdn.example/${of.sku}.jpg" alt="Phone, silver">`);
  assert.match(await pageWith(server, id, '</html>'), 'alt="&quot;&gt;&lt;b&gt;">');
  assert.not.match(page, '<svg');
  await server.stop();
});

test('the purchase price is not among what a template is given', async () => {
  const server = await serverWith(
    templates({ 'sku.njk': '{% for key, value in sku %}{{ key }} {% endfor %}' }),
  );
  const of = await createCatalog(server);
  const page = await pageWith(server, of.sku, 'market_price');
  assert.not.match(page, 'cost');
  await server.stop();
});

interface Broken {
  readonly what: string;
  readonly file: string;
  readonly text: string;
  /** What the message has to say behind the directory. */
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
    what: 'a value that there is none of',
    file: 'sku.njk',
    text: '<h1>\n\n{{ nobody.name }}\n</h1>\n',
    says: '/sku.njk:3: attempted to output null or undefined',
  },
  {
    what: 'a call of what is no function',
    file: 'sku.njk',
    text: '{% extends "layout.njk" %}\n{% block main %}\n{{ sku.name() }}\n{% endblock %}\n',
    says: '/sku.njk:3: Unable to call',
  },
  {
    what: 'a template that there is none of',
    file: 'sku.njk',
    text: '{% extends "lay.njk" %}\n',
    says: '/sku.njk:1: there is no template lay.njk',
  },
  {
    // nunjucks itself throws this one where nobody can catch it.
    what: 'a syntax error in what another template includes',
    file: 'picture.njk',
    text: '<b>\n\n{% if %}\n',
    says: '/picture.njk:3: unexpected token: %}',
  },
  {
    what: 'a missing value in what another template includes',
    file: 'picture.njk',
    text: '<b>\n\n{{ nobody }}\n',
    says: '/picture.njk:3: attempted to output null or undefined',
  },
];

test('an error is placed in the template that has it, whichever uses that one', () => {
  const pageOfSku = {
    sku: {
      id: 1,
      name: 'N',
      caption: '',
      stock: 1,
    },
    brand: {
      name: 'B',
      logo: null,
    },
    spu: {
      name: 'S',
      page: '',
      detail: '',
      pack: '',
      service: '',
    },
    price: '1',
    root: '',
    exactPrice: '1',
    marketPrice: null,
    choices: [],
    specifications: [],
    title: 'T',
    shop: {
      name: 'S',
      locale: 'en',
      currency: 'USD',
    },
    description: '',
    canonical: null,
    style: '',
    jsonLd: [],
    crumbs: [],
  };
  for (const [file, text, line] of [
    ['layout.njk', '<html>\n\n{{ nobody }}', 3],
    ['brand.njk', 'by\n{{ no }}', 2],
    ['texts.njk', '\n\n{% bad %}', 3],
    ['picture.njk', '\n{{ sku.name | shout }}', 1],
  ] as const) {
    const directory = templates({ [file]: text });
    const made = new Templates(machineDisk, directory);
    try {
      made.render('sku.njk', pageOfSku);
      assert.unreachable();
    } catch (error) {
      assert.ok(
        (error as Error).message.startsWith(`${directory}/${file}:${line}: `),
        String(error),
      );
    }
  }
});

for (const { what, file, text, says } of BROKEN) {
  test(`${what} is told with file and line, and the old page stays`, async () => {
    const first = await startServer();
    const of = await createCatalog(first);
    await until('the pages are there', () => faultsOf(first.data).length === 0);
    await first.stop();
    const page = `skus/${of.sku}.html`;
    const old = pageOf(first, page);
    assert.ok(old);
    const directory = templates({ [file]: text });
    const server = await serverWith(directory, first.data);
    let said = '';
    server.child.stderr?.on('data', (chunk) => (said += chunk));
    await until('it is told', () => said.includes('\n'));
    const { msg } = JSON.parse(said.slice(0, said.indexOf('\n')));
    assert.match(msg, /^a page could not be written/);
    assert.ok(msg.includes(`${page}: ${directory}${says}`), msg);
    // The server goes on, and so do the pages of other templates.
    const body = { name: 'Renamed' };
    assert.is((await send(server, 'PATCH', `/admin/skus/${of.sku}/`, { body })).status, 200);
    const list = `goods/${of.spu}.html`;
    await until('the list is new', () => pageOf(server, list).includes('>Renamed</a>'));
    assert.is(pageOf(server, page), old);
    assert.is((await server.stop()).status, 0);

    const rebuilt = await runCommand(['rebuild-pages', '--data', server.data]);
    assert.is(rebuilt.status, 1);
    assert.match(rebuilt.stderr, /^catalog-server: [^\n]+\n$/);
    assert.ok(rebuilt.stderr.includes(`${page}: ${directory}${says}`), rebuilt.stderr);
    assert.match(rebuilt.stdout, /, 1 failed in/);
    assert.is(pageOf(server, page), old);

    rmSync(join(directory, file));
    writeFileSync(join(directory, 'style.css'), '');
    const repaired = await runCommand(['rebuild-pages', '--data', server.data]);
    assert.is(repaired.status, 0, repaired.stderr);
    assert.match(pageOf(server, page), '<h1>Renamed</h1>');
  });
}

test('a directory without a template, or without anything, is refused before the server starts', async () => {
  const data = temporaryDirectory();
  const empty = templates({ 'README.txt': '' });
  for (const [directory, says] of [
    [empty, 'holds no template; the names are brand.njk'],
    [join(empty, 'none'), 'holds no template'],
    [join(empty, 'README.txt'), 'cannot be read'],
  ] as const) {
    const args = ['serve', '--data', data, '--port', '0', '--templates', directory];
    const { status, stdout, stderr } = await runCommand(args);
    assert.is(status, 1, directory);
    assert.is(stdout, '');
    assert.match(stderr, /^catalog-server: [^\n]+\n$/);
    assert.ok(stderr.includes(directory) && stderr.includes(says), stderr);
  }
});

test('every template of the program is one that an operator may replace', () => {
  const directory = temporaryDirectory();
  for (const name of TEMPLATE_NAMES) {
    const own = join(directory, name.replace('.', '-'));
    mkdirSync(own);
    writeFileSync(join(own, name), `own ${name}`);
    const made = new Templates(machineDisk, own);
    assert.is(name === 'style.css' ? made.style : made.render(name, {}), `own ${name}`);
  }
});

test.run();
