/** House rules for docstrings: exported functions have one, and what docstrings name exists. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Comment, type Node, parseSync, visitorKeys } from 'oxc-parser';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ROOT } from '../support/paths.ts';

interface Source {
  readonly file: string;
  readonly text: string;
  readonly docstrings: readonly Comment[];
  /** The statements at the top level, without `export`. */
  readonly statements: readonly Node[];
  /** Where the statement of each exported function begins: the first one if it is overloaded. */
  readonly exportedFunctions: ReadonlyMap<string, number>;
  /** All nodes; a node comes before the nodes within it. */
  readonly nodes: readonly Node[];
  /** Where each imported name comes from, as it is written. */
  readonly imports: ReadonlyMap<string, string>;
}

/** Files by their path relative to the root. */
type Sources = ReadonlyMap<string, Source>;

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value;

/** @returns a node, and the nodes within it. */
function nodesIn(node: Node): Node[] {
  const fields: Readonly<Record<string, unknown>> = { ...node };
  const children = (visitorKeys[node.type] ?? []).flatMap((key) => [fields[key]].flat());
  return [node, ...children.filter(isNode).flatMap(nodesIn)];
}

const withoutExport = (node: Node): Node => ('declaration' in node && node.declaration) || node;

/** @returns the names that a declaration, a key of a member, or a parameter has. */
function namesOf(node: Node | null): string[] {
  if (node === null) return [];
  if (node.type === 'Identifier') return [node.name];
  if (node.type === 'PrivateIdentifier') return [`#${node.name}`];
  if (node.type === 'VariableDeclaration') return node.declarations.flatMap(namesOf);
  if (node.type === 'AssignmentPattern') return namesOf(node.left);
  if (node.type === 'RestElement') return namesOf(node.argument);
  if (node.type === 'ArrayPattern') return node.elements.flatMap(namesOf);
  if (node.type === 'ObjectPattern') return node.properties.flatMap(namesOf);
  if (node.type === 'Property') return namesOf(node.value);
  return 'id' in node ? namesOf(node.id) : [];
}

/** @returns the name of a function that is declared by `function` or as a constant; or null. */
function functionName(node: Node): string | null {
  if (node.type === 'FunctionDeclaration' || node.type === 'TSDeclareFunction') {
    return node.id?.name ?? 'default';
  }
  const type = node.type === 'VariableDeclaration' ? node.declarations[0]?.init?.type : undefined;
  return type?.endsWith('FunctionExpression') ? (namesOf(node)[0] ?? null) : null;
}

/** @returns the members of a class, an interface or a type of an object; null of anything else. */
function membersOf(node: Node): string[] | null {
  if (node.type === 'TSTypeAliasDeclaration') return membersOf(node.typeAnnotation);
  const { body } =
    node.type === 'ClassDeclaration' || node.type === 'TSInterfaceDeclaration'
      ? node.body
      : { body: null };
  const members = node.type === 'TSTypeLiteral' ? node.members : body;
  return members?.flatMap((member) => ('key' in member ? namesOf(member.key) : [])) ?? null;
}

/** Whether another declaration lists further members of a class or an interface. */
const inherits = (node: Node): boolean =>
  ('superClass' in node && node.superClass !== null) ||
  ('extends' in node && node.extends.length > 0);

function sourceOf(file: string, text: string): Source {
  const { program, comments, errors } = parseSync(file, text);
  assert.equal(errors, [], file);
  const imports = program.body.flatMap((node) =>
    node.type === 'ImportDeclaration'
      ? node.specifiers.map(({ local }) => [local.name, node.source.value] as const)
      : [],
  );
  const exported = new Map<string, number>();
  for (const node of program.body) {
    const name = withoutExport(node) === node ? null : functionName(withoutExport(node));
    if (name !== null && !exported.has(name)) exported.set(name, node.start);
  }
  return {
    file,
    text,
    docstrings: comments.filter(({ type, value }) => type === 'Block' && value.startsWith('*')),
    statements: program.body.map(withoutExport),
    exportedFunctions: exported,
    nodes: nodesIn(program),
    imports: new Map(imports),
  };
}

/** @returns the position of the first character after a docstring that is not white space. */
const describedBy = ({ text }: Source, { end }: Comment): number =>
  end + (/^\s*/.exec(text.slice(end))?.[0].length ?? 0);

const lineAt = ({ text }: Source, at: number): number => text.slice(0, at).split('\n').length;

/** @returns the exported functions without a docstring, each as `line: what to do`. */
function undescribed(source: Source): string[] {
  const described = new Set(source.docstrings.map((doc) => describedBy(source, doc)));
  return [...source.exportedFunctions]
    .filter(([, start]) => !described.has(start))
    .map(([name, start]) => `${lineAt(source, start)}: write a docstring for the function ${name}`);
}

/** @returns the parameters of the function that a docstring describes; null if it has none. */
function parametersAfter(source: Source, doc: Comment): string[] | null {
  const start = describedBy(source, doc);
  const described = source.nodes.find((node) => node.start === start && node.type !== 'Program');
  const found = source.nodes.find(
    (node) => 'params' in node && node.start >= start && node.end <= (described?.end ?? 0),
  );
  const params = found !== undefined && 'params' in found ? [found.params].flat() : null;
  return params?.filter(isNode).flatMap(namesOf) ?? null;
}

/** @returns the `@param` that name no parameter, each as `line: what to do`. */
function wrongParameters(source: Source): string[] {
  return source.docstrings.flatMap((doc) =>
    [...doc.value.matchAll(/@param\s+([\w$]+)/g)].flatMap(({ 1: name = '', index }) => {
      const parameters = parametersAfter(source, doc);
      if (parameters?.includes(name)) return [];
      const known = parameters === null ? 'no function follows' : `has ${parameters.join(', ')}`;
      const line = lineAt(source, doc.start + 2 + index);
      return [`${line}: name a parameter instead of "@param ${name}" (${known})`];
    }),
  );
}

/** @returns the declaration of a name, in the file itself or where the file imports it from. */
function declarationOf(source: Source, sources: Sources, name: string): Node | undefined {
  const from = source.imports.get(name);
  const place = from === undefined ? source.file : join(dirname(source.file), from);
  return sources.get(place)?.statements.find((node) => namesOf(node).includes(name));
}

/** @returns why a link in a docstring leads nowhere; null if it leads somewhere. */
function linkFault(source: Source, sources: Sources, doc: Comment, target: string): string | null {
  const [first = '', member] = target.split('.');
  const declaration = declarationOf(source, sources, first);
  if (declaration !== undefined) {
    const members = inherits(declaration) ? null : membersOf(declaration);
    const missing = member !== undefined && members !== null && !members.includes(member);
    return missing ? `${first} has no member ${member}` : null;
  }
  const around = source.nodes.filter(({ start, end }) => start < doc.start && doc.end < end);
  const known = source.imports.has(first) || around.some((n) => membersOf(n)?.includes(first));
  return known ? null : `${first} is not imported or declared here`;
}

/** @returns the links that lead nowhere, each as `line: what to do`. */
function wrongLinks(source: Source, sources: Sources): string[] {
  return source.docstrings.flatMap((doc) =>
    [...doc.value.matchAll(/\{@link[\s*]+([^}\s]+)\s*\}/g)].flatMap(({ 1: target = '', index }) => {
      const fault = linkFault(source, sources, doc, target);
      const line = lineAt(source, doc.start + 2 + index);
      const advice = `correct "{@link ${target}}", or put the name in backticks`;
      return fault === null ? [] : [`${line}: ${advice} (${fault})`];
    }),
  );
}

const RULES = {
  'every exported function has a docstring': undescribed,
  'every @param names a parameter of the function that follows': wrongParameters,
  'every {@link} names something that is in scope': wrongLinks,
};

const planted = (text: string): Source => sourceOf('planted.ts', text);

const FILES = ['src', 'release', 'bin'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => join(folder, name)),
);
const SOURCES: Sources = new Map(
  FILES.map((file) => [file, sourceOf(file, readFileSync(join(ROOT, file), 'utf8'))]),
);

test('the test finds the exported functions, and the docstrings of all folders', () => {
  const sources = [...SOURCES.values()];
  const text = sources.flatMap(({ docstrings }) => docstrings.map(({ value }) => value)).join('');
  assert.ok(sources.flatMap((source) => [...source.exportedFunctions]).length > 500);
  assert.ok(text.split('@param ').length > 500);
  assert.ok(text.split('{@link ').length > 200);
});

test('an exported function without a docstring is found, and no other', () => {
  const source = planted(`/** The file. */
import { a } from './a.ts';

export function bare() {}
export const arrow = () => a;
export const wrapped = async (value: string) => {
  /** Within. */
  await value;
};
/** Of a constant. */
const value = 1;
export default function () {}
// A comment is not a docstring.
export function remarked() {}
/** Described. */
export function good() {}
/** Described. */
export const fine = () => value;
/** Both forms. */
export function overloaded(a: string): void;
export function overloaded(): void {}
export const text = 'no function';
`);
  assert.equal(undescribed(source), [
    '4: write a docstring for the function bare',
    '5: write a docstring for the function arrow',
    '6: write a docstring for the function wrapped',
    '12: write a docstring for the function default',
    '14: write a docstring for the function remarked',
  ]);
});

test('a @param that names no parameter is found, and no other', () => {
  const source = planted(`/**
 * @param gone of a function that had it.
 * @param rest the others. */
export function f(a: string, ...rest: string[]) {}
/** @param value but a constant has none. */
const constant = 1;
const later = (value: number) => value;
interface Shape {
  /** @param size in bytes. @param unit is gone. */
  grow(size: number): void;
  /** @param at in milliseconds. */
  readonly when: (at: number) => void;
}
class Thing {
  /** @param one the first. @param two the second. */
  constructor({ one }: Options, [two]: string[] = []) {}
  /** @param other of the method after it. */
  #name = '';
  set(other: string) {}
}
`);
  assert.equal(wrongParameters(source), [
    '2: name a parameter instead of "@param gone" (has a, rest)',
    '5: name a parameter instead of "@param value" (no function follows)',
    '9: name a parameter instead of "@param unit" (has size)',
    '17: name a parameter instead of "@param other" (no function follows)',
  ]);
});

test('a link to a name that is not in scope is found, and no other', () => {
  const source = planted(`/** {@link Log} {@link Log.open} {@link lib} {@link Table.rows} */
import type { Log } from './log.ts';
import lib from 'lib';
/** {@link Gone} {@link Log.closed} {@link
 * Thing.size} {@link Thing.other} {@link inherited} */
export class Thing {
  /** {@link size} {@link #hidden} {@link grow} {@link helper} {@link open} */
  readonly size = 1;
  #hidden = this.grow();
  grow() {}
}
class Table extends lib.Base {}
/** {@link grow} */
const helper = () => new Table();
`);
  const sources: Sources = new Map([
    ['planted.ts', source],
    ['log.ts', sourceOf('log.ts', 'export interface Log { open(): void }')],
  ]);
  const advice = 'or put the name in backticks';
  assert.equal(wrongLinks(source, sources), [
    `4: correct "{@link Gone}", ${advice} (Gone is not imported or declared here)`,
    `4: correct "{@link Log.closed}", ${advice} (Log has no member closed)`,
    `5: correct "{@link Thing.other}", ${advice} (Thing has no member other)`,
    `5: correct "{@link inherited}", ${advice} (inherited is not imported or declared here)`,
    `7: correct "{@link open}", ${advice} (open is not imported or declared here)`,
    `13: correct "{@link grow}", ${advice} (grow is not imported or declared here)`,
  ]);
});

for (const [rule, findingsIn] of Object.entries(RULES)) {
  test(rule, () => {
    const findings = [...SOURCES.values()].flatMap((source) =>
      findingsIn(source, SOURCES).map((found) => `${source.file}:${found}`),
    );
    assert.equal(findings, []);
  });
}

test.run();
