/** House rules for the documents: every path and every link in them exists. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ROOT } from '../support/paths.ts';

const DOCS = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md'))
  .map((name) => join(ROOT, 'docs', name));

const DOCUMENTS = [
  ...['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'].map((n) => join(ROOT, n)),
  ...DOCS,
];

interface Mention {
  /** The document, relative to the root. */
  readonly document: string;
  /** A path relative to the root. */
  readonly path: string;
  readonly anchor: string | undefined;
}

/** A path of the repository in backticks: `src/errors.ts`, `test/unit/`. */
const PATH = /`((?:src|test|docs|templates|data|bench|bin)\/[\w./-]*)`/g;

const LINK = /\]\(((?!https?:|mailto:)[^)#]*)(?:#([^)]*))?\)/g;

function mentionsIn(document: string): Mention[] {
  const text = readFileSync(document, 'utf8');
  const name = relative(ROOT, document);
  const paths = [...text.matchAll(PATH)].map(([, path = '']) => ({
    document: name,
    path,
    anchor: undefined,
  }));
  const links = [...text.matchAll(LINK)].map(([, to = '', anchor]) => ({
    document: name,
    path: to === '' ? name : relative(ROOT, join(dirname(document), to)),
    anchor,
  }));
  return [...paths, ...links];
}

/** The anchor of a heading: lower case, without punctuation, with dashes for spaces. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(' ', '-');
}

function anchorsOf(path: string): Set<string> {
  const text = readFileSync(join(ROOT, path), 'utf8');
  return new Set([...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading)));
}

const MENTIONS = DOCUMENTS.flatMap(mentionsIn);

test('the test finds the documents, their paths and their links', () => {
  assert.ok(DOCUMENTS.length >= 20, `${DOCUMENTS.length} documents`);
  assert.ok(MENTIONS.length >= 100, `${MENTIONS.length} paths and links`);
  assert.ok(MENTIONS.some(({ anchor }) => anchor !== undefined));
});

test('every path in a document exists, and so does the target of every link', () => {
  const missing = MENTIONS.filter(({ path }) => !existsSync(join(ROOT, path)));
  assert.equal(
    missing.map(({ document, path }) => `${document}: ${path}`),
    [],
  );
});

test('every link with an anchor leads to a heading', () => {
  const wrong = MENTIONS.filter(
    ({ path, anchor }) =>
      anchor !== undefined && existsSync(join(ROOT, path)) && !anchorsOf(path).has(anchor),
  );
  assert.equal(
    wrong.map(({ document, path, anchor }) => `${document}: ${path}#${anchor}`),
    [],
  );
});

test('every page of docs can be reached from the README', () => {
  const reached = new Set(['README.md']);
  for (const document of reached) {
    for (const mention of MENTIONS) {
      if (mention.document === document && mention.path.endsWith('.md')) reached.add(mention.path);
    }
  }
  const lonely = DOCS.map((path) => relative(ROOT, path)).filter((path) => !reached.has(path));
  assert.equal(lonely, []);
});

test.run();
