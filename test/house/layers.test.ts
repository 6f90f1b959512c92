/** House rules for the source: imports, access to the file system, sizes of files and folders. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Code, CODES } from '../../src/errors.ts';
import { ROOT } from '../support/paths.ts';

const SRC = join(ROOT, 'src');

/** Folders of src, and `errors` for src/errors.ts: the layers that each may also import. */
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  cli: [
    'app',
    'archive',
    'encryption',
    'hosts',
    'resources',
    'pages',
    'http',
    'store',
    'disk',
    'auth',
    'model',
    'telemetry',
    'data-files',
    'delay',
    'errors',
    'json',
    'streams',
  ],
  app: [
    'archive',
    'backoff',
    'encryption',
    'hosts',
    'http',
    'resources',
    'pages',
    'store',
    'disk',
    'auth',
    'model',
    'telemetry',
    'console',
    'data-files',
    'delay',
    'errors',
    'fair-queue',
    'json',
    'slices',
    'streams',
  ],
  hosts: [
    'backoff',
    'http',
    'resources',
    'store',
    'auth',
    'disk',
    'telemetry',
    'delay',
    'errors',
    'fair-queue',
    'json',
    'network',
    'places',
    'slices',
    'streams',
  ],
  http: [
    'resources',
    'auth',
    'model',
    'telemetry',
    'console',
    'delay',
    'errors',
    'fair-queue',
    'http-date',
    'json',
    'network',
    'places',
    'slices',
    'streams',
  ],
  resources: [
    'backoff',
    'store',
    'model',
    'delay',
    'errors',
    'json',
    'places',
    'slices',
    'streams',
  ],
  pages: [
    'backoff',
    'store',
    'disk',
    'model',
    'data-files',
    'delay',
    'errors',
    'fair-queue',
    'json',
    'markup',
    'slices',
  ],
  archive: [
    'backoff',
    'encryption',
    'store',
    'disk',
    'data-files',
    'delay',
    'errors',
    'http-date',
    'json',
    'slices',
    'streams',
  ],
  store: ['backoff', 'disk', 'model', 'data-files', 'delay', 'errors', 'json', 'slices', 'streams'],
  auth: ['disk', 'data-files', 'errors', 'fair-queue', 'json', 'network', 'slices'],
  encryption: ['disk', 'errors'],
  disk: ['errors', 'slices', 'streams'],
  model: ['errors', 'slices'],
  console: ['errors', 'markup'],
  telemetry: ['disk', 'delay', 'slices'],
  backoff: [],
  'data-files': [],
  delay: [],
  errors: [],
  'fair-queue': [],
  'http-date': [],
  json: [],
  markup: [],
  network: [],
  places: [],
  slices: [],
  streams: [],
};

/** The files outside src/disk that may import the file system, because they only read. */
const READERS: Readonly<Record<string, { reason: string; names: RegExp }>> = {
  'cli/commands/output.ts': {
    reason: 'resolves the path of a named file and checks what is there',
    names: /^import \{ lstatSync, realpathSync, statSync, type Stats \} from 'node:fs';$/m,
  },
};

const LONGEST_FILE = 300;

const MAX_FILES_IN_A_FOLDER = 15;

function filesBelow(directory: string, ending: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

interface Import {
  /** Relative to src. */
  readonly from: string;
  readonly to: string;
}

const SPECIFIER =
  /^(?:import|export)\b[^;'"]*?\bfrom\s+'([^']+)'|^import\s+'([^']+)'|\bimport\('([^']+)'\)/gm;

function specifiersOf(text: string): string[] {
  return [...text.matchAll(SPECIFIER)].map(([, a, b, c]) => a ?? b ?? c ?? '');
}

const FILES = [...filesBelow(SRC, '.ts'), ...filesBelow(SRC, '.tsx')];
const TEXTS = new Map(FILES.map((path) => [relative(SRC, path), readFileSync(path, 'utf8')]));

/** Every import between files of src. */
const IMPORTS: readonly Import[] = [...TEXTS].flatMap(([from, text]) =>
  specifiersOf(text)
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => relative(SRC, resolve(SRC, dirname(from), specifier)))
    .filter((to) => !to.startsWith('..') && !to.endsWith('.css'))
    .map((to) => ({ from, to })),
);

function layerOf(file: string): string {
  return file.includes('/') ? (file.split('/')[0] ?? '') : file.replace(/\.ts$/, '');
}

test('the test finds the files of every layer and their imports', () => {
  assert.ok(FILES.length > 30, `${FILES.length} files`);
  assert.ok(IMPORTS.length > 100, `${IMPORTS.length} imports`);
  assert.equal([...new Set([...TEXTS.keys()].map(layerOf))].sort(), Object.keys(LAYERS).sort());
});

test('the test finds every import statement of the source', () => {
  for (const [file, text] of TEXTS) {
    const written = text.split('\n').filter((line) => /^import\b|^\} from '/.test(line));
    const begun = written.filter((line) => line.startsWith('import')).length;
    const later = text.split('await import(').length - 1;
    assert.is(specifiersOf(text).length, begun + later, file);
  }
});

test('every imported file exists', () => {
  for (const { from, to } of IMPORTS) assert.ok(TEXTS.has(to), `${from} imports ${to}`);
});

test('a layer imports only layers below it', () => {
  const wrong = IMPORTS.filter(({ from, to }) => {
    const layer = layerOf(from);
    return layer !== layerOf(to) && !LAYERS[layer]?.includes(layerOf(to));
  });
  assert.equal(wrong, []);
});

test('a layer imports every layer that it may import, except slices', () => {
  for (const [layer, may] of Object.entries(LAYERS)) {
    const imported = IMPORTS.filter(({ from }) => layerOf(from) === layer);
    const used = new Set(imported.map(({ to }) => layerOf(to)));
    const unused = may.filter((below) => below !== 'slices' && !used.has(below));
    assert.equal(unused, [], layer);
  }
});

/** @returns the layers that a cell names: `store, disk`, `all but cli` or `none`. */
function layersIn(cell: string, all: readonly string[]): string[] {
  if (cell === 'none') return [];
  const excepted = /^all but (.+)$/.exec(cell)?.[1]?.split(', ');
  return excepted ? all.filter((layer) => !excepted.includes(layer)) : cell.split(', ');
}

test('docs/architecture.md lists what each layer may import', () => {
  const text = readFileSync(join(ROOT, 'docs', 'architecture.md'), 'utf8');
  const rowsOf = (ending: string) =>
    [...text.matchAll(/^\| `src\/([\w-]+)(\.ts)?` \| .* \| ([^|]+) \|$/gm)]
      .filter(([, , found = '']) => found === ending)
      .map(([, layer = '', , cell = '']) => ({ layer, cell }));
  const folders = rowsOf('');
  const files = rowsOf('.ts');
  const names = folders.map(({ layer }) => layer);
  assert.equal([...names, ...files.map(({ layer }) => layer)].sort(), Object.keys(LAYERS).sort());
  for (const { layer, cell } of folders) {
    const may = LAYERS[layer]?.filter((below) => names.includes(below)) ?? [];
    const others = names.filter((name) => name !== layer);
    assert.equal(layersIn(cell, others).sort(), may.sort(), layer);
  }
  for (const { layer, cell } of files) {
    const may = names.filter((above) => LAYERS[above]?.includes(layer));
    assert.equal(layersIn(cell, names).sort(), may.sort(), layer);
  }
});

test('the layers have no cycle', () => {
  const visit = (layer: string, path: readonly string[]): void => {
    assert.not.ok(path.includes(layer), [...path, layer].join(' > '));
    for (const below of LAYERS[layer] ?? []) visit(below, [...path, layer]);
  };
  for (const layer of Object.keys(LAYERS)) visit(layer, []);
});

test('src/http does not import the store, the disk, the pages, app or cli', () => {
  const http = IMPORTS.filter(({ from }) => layerOf(from) === 'http');
  assert.ok(http.length > 20);
  const wrong = http.filter(({ to }) =>
    ['store', 'disk', 'pages', 'app', 'cli'].includes(layerOf(to)),
  );
  assert.equal(wrong, []);
});

test('the server imports only assets.ts and open.ts of the console', () => {
  const crossing = IMPORTS.filter(
    ({ from, to }) => layerOf(to) === 'console' && layerOf(from) !== 'console',
  );
  assert.ok(crossing.length > 0);
  const files = new Set(crossing.map(({ to }) => to));
  assert.equal([...files].sort(), ['console/assets.ts', 'console/open.ts']);
});

/** @returns the files of a cycle, with the first one twice, or null. */
function findCycle(imports: readonly Import[]): string[] | null {
  const finished = new Set<string>();
  const visit = (file: string, path: readonly string[]): string[] | null => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (finished.has(file)) return null;
    for (const { from, to } of imports) {
      if (from !== file) continue;
      const cycle = visit(to, [...path, file]);
      if (cycle !== null) return cycle;
    }
    finished.add(file);
    return null;
  };
  for (const { from } of imports) {
    const cycle = visit(from, []);
    if (cycle !== null) return cycle;
  }
  return null;
}

test('imports of files have no cycle', () => {
  const [a, b, c] = ['a', 'b', 'c'];
  const chain = [
    { from: a, to: b },
    { from: b, to: c },
  ];
  assert.is(findCycle(chain), null, 'a chain is not a cycle');
  assert.equal(findCycle([...chain, { from: c, to: a }]), [a, b, c, a], 'a cycle is found');
  assert.is(findCycle(IMPORTS), null);
});

test('only src/disk imports the file system, except files that only read', () => {
  const importers = [...TEXTS]
    .filter(([, text]) =>
      specifiersOf(text).some((name) => /^(?:node:)?fs(?:\/promises)?$/.test(name)),
    )
    .map(([file]) => file);
  assert.ok(importers.includes('disk/disk.ts'), 'the rule sees the disk');
  const outside = importers.filter((file) => layerOf(file) !== 'disk');
  assert.equal(outside.sort(), Object.keys(READERS).sort());
  for (const file of outside) {
    const text = TEXTS.get(file) ?? '';
    const { reason, names } = READERS[file] ?? { reason: '', names: /$^/ };
    assert.match(text, names, `${file} ${reason}`);
  }
  for (const [file, text] of TEXTS) {
    if (layerOf(file) !== 'disk') assert.not.match(text, /\bBun\.(?:write|file)\b/, file);
  }
});

test('requests are sent in one file each: for hosts and etcd, for buckets, and for webhooks', () => {
  const senders = [...TEXTS]
    .filter(([file, text]) => layerOf(file) !== 'console' && /(?<![\w.#])fetch\(/.test(text))
    .map(([file]) => file);
  assert.equal(senders.sort(), [
    'app/webhooks/sender.ts',
    'archive/storage/s3-client.ts',
    'hosts/direct-fetch.ts',
  ]);
});

test('what is not from a client is judged up to its first fault', () => {
  // Bodies of requests, and single values of attributes: clients are told all that is wrong.
  const toTheEnd = [
    'http/operations/body.ts',
    'resources/input.ts',
    'resources/transfer/rows/row-writer.ts',
    'store/check.ts',
  ];
  const count = (text: string, of: RegExp) => text.match(of)?.length ?? 0;
  const judging = [...TEXTS].flatMap(([file, text]) => {
    const calls = count(text, /\bv\.(?:safeParse|parse)\(/g);
    return calls === 0 ? [] : [{ file, others: calls - count(text, /\bFIRST_FAULT,?\s*\)/g) }];
  });
  assert.ok(judging.length > 20, `the rule sees ${judging.length} files`);
  assert.equal(
    judging
      .filter(({ others }) => others > 0)
      .map(({ file }) => file)
      .sort(),
    toTheEnd,
  );
});

test(`no file of the source has more than ${LONGEST_FILE} lines`, () => {
  const long = [...TEXTS].map(([file, text]) => ({ file, lines: text.split('\n').length - 1 }));
  assert.ok(long.length > 30);
  assert.equal(
    long.filter(({ lines }) => lines > LONGEST_FILE),
    [],
  );
});

test(`no folder of the source has more than ${MAX_FILES_IN_A_FOLDER} files`, () => {
  const sizes = new Map<string, number>();
  for (const file of TEXTS.keys()) sizes.set(dirname(file), (sizes.get(dirname(file)) ?? 0) + 1);
  assert.ok(sizes.size > 15, `the rule sees ${sizes.size} folders`);
  assert.equal(
    [...sizes].filter(([, files]) => files > MAX_FILES_IN_A_FOLDER),
    [],
  );
});

test('docs/errors.md has a row for every code, with its status, and no other', () => {
  const text = readFileSync(join(ROOT, 'docs', 'errors.md'), 'utf8');
  // A code that no client receives is without its HTTP status.
  const rows = [...text.matchAll(/^\| (?:(\d{3}) \| )?`(\w+)` \|/gm)];
  assert.ok(rows.length > 10, `${rows.length} rows`);
  assert.equal(rows.map(([, , code = '']) => code).sort(), Object.keys(CODES).sort());
  for (const [, status, code] of rows) {
    if (status !== undefined) assert.is(Number(status), CODES[code as Code].status, code);
  }
});

test('every test file ends with .run()', () => {
  const tests = filesBelow(join(ROOT, 'test'), '.test.ts');
  assert.ok(tests.includes(import.meta.path), 'the rule sees the tests');
  const forgetful = tests.filter((path) => !readFileSync(path, 'utf8').endsWith('.run();\n'));
  assert.equal(forgetful, []);
});

test('every suite of a test file is run', () => {
  const tests = filesBelow(join(ROOT, 'test'), '.test.ts');
  assert.ok(tests.length > 1);
  for (const path of tests) {
    const text = readFileSync(path, 'utf8');
    for (const [, name] of text.matchAll(/^const (\w+) = suite\b/gm)) {
      assert.ok(text.includes(`\n${name}.run();`), `${name} of ${relative(ROOT, path)}`);
    }
  }
});

test('no test file contains a call of .only()', () => {
  const tests = filesBelow(join(ROOT, 'test'), '.test.ts');
  const lonely = tests.filter((path) => /^\s*\w+\.only\(/m.test(readFileSync(path, 'utf8')));
  assert.ok(tests.length > 1);
  assert.equal(lonely, []);
});

test.run();
