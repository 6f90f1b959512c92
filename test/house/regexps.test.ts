/**
 * Every regular expression of the source takes linear time: an automaton of it has no match that
 * takes longer, at whatever position of the input a search begins.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Expression, parseSync, Visitor } from 'oxc-parser';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ROOT } from '../support/paths.ts';

// The checker has versions in Java and for each platform; the pure version needs neither.
process.env['RECHECK_BACKEND'] = 'pure';
const { checkSync } = await import('recheck');

interface Found {
  readonly where: string;
  readonly source: string;
  readonly flags: string;
}

/**
 * Files that make expressions from parts. The parts of a page's name are literals, which are
 * checked like all others; those of a path are the patterns of its parameters, each a repeated class.
 */
const COMPOSED: readonly string[] = ['src/http/operations/path.ts', 'src/pages/shop/names.ts'];

const isRegExp = (callee: Expression) => callee.type === 'Identifier' && callee.name === 'RegExp';

/** The literal expressions of a text, and whether it makes expressions from strings. */
function expressionsIn(where: string, text: string): { literals: Found[]; composes: boolean } {
  const literals: Found[] = [];
  let composes = false;
  const { program, errors } = parseSync(where, text);
  assert.equal(errors, [], where);
  new Visitor({
    Literal(node) {
      if (!('regex' in node)) return;
      const { pattern: source, flags } = node.regex;
      const line = text.slice(0, node.start).split('\n').length;
      literals.push({ where: `${where}:${line}`, source, flags });
    },
    NewExpression: ({ callee }) => void (composes ||= isRegExp(callee)),
    CallExpression: ({ callee }) => void (composes ||= isRegExp(callee)),
  }).visit(program);
  return { literals, composes };
}

/** @returns how the time grows, or null if it is linear. */
function growthOf({ source, flags }: Pick<Found, 'source' | 'flags'>): string | null {
  const verdict = checkSync(source, flags, { checker: 'automaton', timeout: 60_000 });
  if (verdict.status === 'unknown') return `unknown: ${verdict.error.kind}`;
  return verdict.status === 'safe' ? null : verdict.complexity.summary;
}

const FILES = ['src', 'bin'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map(({ parentPath, name }) => join(parentPath, name).slice(ROOT.length + 1)),
);
const EXPRESSIONS = FILES.map((file) => ({
  file,
  ...expressionsIn(file, readFileSync(join(ROOT, file), 'utf8')),
}));

test('the test finds planted expressions and tells linear ones from others', () => {
  const planted = String.raw`
    const bad = [/\s+$/, /\d+x/, /^(a+)+$/, /^\s*(.*?)\s*$/, /<[^>]*>/g, /[ \t]*[ \t]*,/y];
    const good = [/^\d+$/, /[^,]*,/y, /W\//, /^"(.*)"$/];
    const text = 'a /b+c/ d'; // /\s+$/
  `;
  const { literals, composes } = expressionsIn('planted.ts', planted);
  assert.equal(
    literals.map(({ source }) => growthOf({ source, flags: '' }) !== null),
    [true, true, true, true, true, true, false, true, false, false],
  );
  assert.equal(
    literals.map((found) => growthOf(found) !== null),
    [true, true, true, true, true, true, false, false, false, false],
    'a sticky expression does not search',
  );
  assert.not.ok(composes);
  assert.ok(expressionsIn('planted.ts', 'const made = new RegExp(text);').composes);
});

test('every regular expression of the source takes linear time', () => {
  const literals = EXPRESSIONS.flatMap((file) => file.literals);
  assert.ok(literals.length > 60, `${literals.length} expressions`);
  const verdicts = new Map<string, string | null>();
  const growing = literals.flatMap((found) => {
    const text = `/${found.source}/${found.flags}`;
    if (!verdicts.has(text)) verdicts.set(text, growthOf(found));
    const growth = verdicts.get(text) ?? null;
    return growth === null ? [] : [`${found.where} ${text}: ${growth}`];
  });
  assert.equal(growing, []);
});

test('only the listed files make regular expressions from strings', () => {
  const composing = EXPRESSIONS.filter(({ composes }) => composes).map(({ file }) => file);
  assert.equal(composing, COMPOSED);
});

test.run();
