/** House rules for the specification: every citation `spec n.m` is a heading of docs/spec. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ROOT } from '../support/paths.ts';

const SPEC = join(ROOT, 'docs', 'spec');

const CITING = ['src', 'test', 'bench', 'bin', 'templates'];

/** A citation may name several rules: `spec 4.2`, `spec 4.2 and 4.3`, `spec 4.1 to 4.6`. */
const CITATION = /\bspec (\d[\d.]*(?:(?:,? and | to |, )\d+\.\d+)*)/g;

const NUMBER = /^\d+\.\d+$/;

interface Heading {
  readonly file: string;
  readonly number: string;
}

interface Citation {
  readonly file: string;
  readonly numbers: readonly string[];
}

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : filesBelow(path);
    return /\.(?:tsx?|lua|njk)$/.test(entry.name) ? [path] : [];
  });
}

/** Lines of comments are joined, since a line may break between `spec` and the number. */
function citationsIn(text: string): string[][] {
  const joined = text.replace(/\n\s*(?:\*(?!\/)|\/\/)\s?/g, ' ');
  return [...joined.matchAll(CITATION)].map(([, numbers = '']) =>
    numbers.split(/,? and | to |, /).map((number) => number.replace(/\.$/, '')),
  );
}

const CHAPTERS = readdirSync(SPEC).filter((name) => name !== 'README.md');

const HEADINGS: readonly Heading[] = CHAPTERS.flatMap((file) =>
  [...readFileSync(join(SPEC, file), 'utf8').matchAll(/^## (\S+) \S/gm)].map(([, number = '']) => ({
    file,
    number,
  })),
);

const CITATIONS: readonly Citation[] = CITING.flatMap((folder) => filesBelow(join(ROOT, folder)))
  .filter((path) => path !== import.meta.path)
  .flatMap((path) =>
    citationsIn(readFileSync(path, 'utf8')).map((numbers) => ({
      file: relative(ROOT, path),
      numbers,
    })),
  );

test('the test finds the specification and its citations', () => {
  assert.ok(CHAPTERS.length >= 10, `${CHAPTERS.length} chapters`);
  assert.ok(HEADINGS.length >= 70, `${HEADINGS.length} headings`);
  assert.ok(CITATIONS.length >= 60, `${CITATIONS.length} citations`);
});

test('every form of citation is found, even across lines of a comment', () => {
  assert.equal(citationsIn('as spec 4.2 has it.'), [['4.2']]);
  assert.equal(citationsIn('(spec 4.2 to 4.6)'), [['4.2', '4.6']]);
  assert.equal(citationsIn('spec 1.7, 1.4 and 2.8: the'), [['1.7', '1.4', '2.8']]);
  assert.equal(citationsIn('/**\n * A rule (spec\n * 3.15).\n */'), [['3.15']]);
  assert.equal(citationsIn('// see spec 3.9.\n'), [['3.9']]);
  assert.equal(citationsIn('spec 4'), [['4']]);
});

test('every heading has a unique number that begins with the number of its file', () => {
  const numbers = HEADINGS.map(({ number }) => number);
  assert.equal([...new Set(numbers)], numbers);
  for (const { file, number } of HEADINGS) {
    assert.match(number, NUMBER, file);
    assert.is(number.split('.')[0], file.split('-')[0], `${number} in ${file}`);
  }
});

test('every citation is the number of a heading', () => {
  const known = new Set(HEADINGS.map(({ number }) => number));
  const wrong = CITATIONS.flatMap(({ file, numbers }) =>
    numbers.filter((number) => !known.has(number)).map((number) => `${file}: spec ${number}`),
  );
  assert.equal(wrong, []);
});

test('no file cites SPEC or DECISIONS', () => {
  const old = CITING.flatMap((folder) => filesBelow(join(ROOT, folder)))
    .filter((path) => path !== import.meta.path)
    .filter((path) => /\b(?:SPEC|DECISIONS) \d/.test(readFileSync(path, 'utf8')))
    .map((path) => relative(ROOT, path));
  assert.equal(old, []);
});

test('references between chapters are numbers of headings', () => {
  const known = new Set(HEADINGS.map(({ number }) => number));
  const references = CHAPTERS.flatMap((file) =>
    [
      ...readFileSync(join(SPEC, file), 'utf8').matchAll(/(?:\(|, |\| )(\d+\.\d+)(?=\)|,| \|)/g),
    ].map(([, number = '']) => ({ file, number })),
  );
  assert.ok(references.length >= 15, `${references.length} references`);
  assert.equal(
    references.filter(({ number }) => !known.has(number)),
    [],
  );
});

test('the index lists every chapter once', () => {
  const listed = [...readFileSync(join(SPEC, 'README.md'), 'utf8').matchAll(/\]\((\d[^)]*)\)/g)];
  assert.equal(
    listed.map(([, file]) => file),
    CHAPTERS.toSorted((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10)),
  );
});

test.run();
