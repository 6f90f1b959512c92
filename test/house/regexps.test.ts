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

type Parts = Pick<Found, 'source' | 'flags'>;

/** The syntax of expressions: escapes, classes, and single characters. */
const TOKEN = /\\(?:[pP]\{[^}]*\}|.)|\[(?:\\.|[^\]\\])*\]|./gs;

/** A token that matches only its last character. */
const ITSELF = /^(?:[\w ,:;"'<>-]|\\[./])$/;

/**
 * Proves most expressions linear in no time; the automaton takes up to ten seconds for each. They
 * are of three kinds:
 *
 * - without a repetition, a match at a position takes a constant time;
 * - after `^`, with repetitions of single characters, each but the last up to a character that it
 *   does not match, there is one position and one way to it, and the last ends after each character;
 * - with groups of alternatives, it takes as long as all expressions together that have one
 *   alternative of each group, because one after the other is tried. If each is of the second kind,
 *   so is their sum linear.
 */
function isPlainlyLinear({ source, flags }: Parts): boolean {
  const tokens: readonly string[] = source.match(TOKEN) ?? [];
  if (!tokens.some((token) => '*+{'.includes(token))) return true;
  if (/[mv]/.test(flags) || /\\[1-9k]/.test(source)) return false;
  return withoutAlternatives(tokens).every((each) => isOneWay(each, flags));
}

/**
 * The expressions that have one alternative of each group, with groups that capture for others. An
 * expression whose lookarounds have alternatives keeps some.
 */
function withoutAlternatives(tokens: readonly string[]): readonly (readonly string[])[] {
  const opened: number[] = [];
  for (const [at, token] of tokens.entries()) {
    if (token === '(') opened.push(at);
    if (token !== ')') continue;
    const open = opened.pop() ?? 0;
    const group = tokens.slice(open + 1, at);
    if (!group.includes('|')) continue;
    const isLookaround = group[0] === '?' && group[1] !== ':';
    // Its alternatives would count as those of the group that it is in.
    if (isLookaround) return [tokens];
    const before = tokens.slice(0, open + 1);
    return splitAt('|', group).flatMap((alternative) =>
      withoutAlternatives([...before, ...alternative, ...tokens.slice(at)]),
    );
  }
  return [tokens];
}

function splitAt(separator: string, tokens: readonly string[]): string[][] {
  const parts: string[][] = [[]];
  for (const token of tokens) {
    if (token === separator) parts.push([]);
    else parts.at(-1)?.push(token);
  }
  return parts;
}

function isOneWay(tokens: readonly string[], flags: string): boolean {
  if (tokens[0] !== '^' || tokens.includes('|') || tokens.includes('{')) return false;
  const repetitions = [...tokens.keys()].filter((at) => '*+'.includes(tokens[at] ?? ''));
  return repetitions.every((at, nth) => {
    const repeated = tokens[at - 1] ?? '';
    if (repeated === ')') return false;
    if (nth === repetitions.length - 1) return true;
    let next = at + 1;
    while (tokens[next] === ')') next += 1;
    const [stop = '', after = ''] = tokens.slice(next);
    if (!ITSELF.test(stop) || '?*'.includes(after || ' ')) return false;
    return !new RegExp(`^${repeated}$`, flags).test(stop.slice(-1));
  });
}

/** Milliseconds after which an expression counts as one that the automaton cannot judge. */
const GIVES_UP_AFTER_MS = 600_000;

/** @returns how the time grows, or null if it is linear. */
function growthOf(found: Parts): string | null {
  return isPlainlyLinear(found) ? null : growthOfAutomaton(found);
}

function growthOfAutomaton({ source, flags }: Parts): string | null {
  const options = { checker: 'automaton', timeout: GIVES_UP_AFTER_MS } as const;
  const verdict = checkSync(source, flags, options);
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

test('the automaton is spared only expressions that it would call linear', () => {
  const plain = [
    /a|b?c[*+]\*/g,
    /^(.+) is (not)? there$/s,
    /^x?"[^"]+"?$/,
    /^(\w+) (\d+): .*/i,
    /^(\w+|two words|\d+\.(?:a|b\/)) is (?:old|new)\w*$/,
  ];
  const others = [
    /a+b/,
    /^a+|b+c/,
    /^(a+)+$/,
    /^(?:a?)*$/,
    /^(?:a|a){2,}$/,
    /^[ab]*[bc]*$/,
    /^a+b?a+$/,
    /^[^:]+(:)?.+$/,
    /^\w+a\w+$/,
    /^[a-z]+Z[a-z]+$/i,
    /^ *$/m,
    /^(a*)\1b/,
    /^(?:a|b+)*$/,
    /^(?:a+|b)a+$/,
    /^(?:\d+\.|b)+c$/,
    /^(?:(?:a|b)+|c)+$/,
    /^(?=a+|b)a*a*$/,
    /^((?=a+|b)a*)c+$/,
    /^(?:\d+\d|\.)\d+$/,
  ];
  assert.ok(plain.every(isPlainlyLinear));
  assert.ok(plain.every((each) => growthOfAutomaton(each) === null));
  assert.not.ok(others.some(isPlainlyLinear));
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
