/**
 * Reports errors in templates with file and line. nunjucks itself always names the file of the
 * page, even if the error is in a template that it extends or includes; counts lines from 0 in some
 * places and from 1 in others; knows the line of few statements; and runs what follows an import or
 * an include inside the template that was imported. So every template is compiled here, in a way
 * that each statement notes its place before it runs.
 */
import nunjucks from 'nunjucks';
import { Compiler } from 'nunjucks/src/compiler.js';
import { lex } from 'nunjucks/src/lexer.js';
import { Output, type Root, TemplateData } from 'nunjucks/src/nodes.js';
import { Parser } from 'nunjucks/src/parser.js';
import { transform } from 'nunjucks/src/transformer.js';
import { messageOf } from '../../errors.ts';
import { countLength, countSteps } from './steps.ts';

const ENDLESS =
  'a template or a macro uses itself without end; a template cannot extend or include the built-in one that it replaces: begin with a copy of that one';

/** Whether the engine's stack was not deep enough. */
function isOverflow(cause: unknown): boolean {
  return cause instanceof RangeError && cause.message.startsWith('Maximum call stack');
}

/** An error with its place. */
class PlacedError extends Error {
  constructor(path: string, line: number, cause: unknown) {
    // A message of nunjucks states a place of its own on the lines before.
    const message = messageOf(cause).replace(/^[\s\S]*\n\s*(?:Error: )?/, '');
    super(`${path}:${line}: ${isOverflow(cause) ? ENDLESS : message}`, { cause });
  }

  /** nunjucks calls this to add the page's file to an error; this one already has its file. */
  Update(): this {
    return this;
  }
}

type Render = (...args: readonly unknown[]) => unknown;

const STATEMENTS: ReadonlySet<string> = new Set(
  'Output Set If For Switch Include Import FromImport Extends'.split(' '),
);

/** The name of the runtime of a template in its code. */
const OWN_RUNTIME = 'ownRuntime';

/** How tags are read: those on lines of their own leave no white space. */
const WHITE_SPACE = { trimBlocks: true, lstripBlocks: true };

// oxlint-disable no-underscore-dangle -- nunjucks names its methods so
/**
 * Emits `runtime.at(line)` at the start of every statement, block and template, and where a
 * statement continues after another template has run; with the length of the text that it outputs.
 */
class PlacingCompiler extends Compiler {
  #line = 0;

  override compile(node: TemplateNode, frame?: unknown): void {
    if (STATEMENTS.has(node.typename)) this.#emitPlace(node, textLengthOf(node));
    super.compile(node, frame);
  }

  /** The function runs with the runtime of its own template, whichever template calls it. */
  override _emitFuncBegin(node: TemplateNode, name: string): void {
    super._emitFuncBegin(node, name);
    this._emitLine(`runtime = ${OWN_RUNTIME};`);
    this.#emitPlace(node);
  }

  override _makeCallback(result: string): string {
    return `${super._makeCallback(result)} ${this.#place()}`;
  }

  #emitPlace({ lineno }: TemplateNode, length = 0): void {
    this.#line = lineno;
    this._emitLine(this.#place(length));
  }

  #place(length = 0): string {
    return `runtime.at(${this.#line}, ${length});`;
  }
}
// oxlint-enable no-underscore-dangle

/** UTF-16 units of the text that a statement outputs as it is. */
function textLengthOf(node: TemplateNode): number {
  if (!(node instanceof Output)) return 0;
  const texts = node.children.map((child) => (child instanceof TemplateData ? child.value : ''));
  return texts.join('').length;
}

/** A compiled template, as a loader may return it: its root, and each of its blocks. */
export interface Code {
  readonly type: 'code';
  readonly obj: Readonly<Record<string, Render>>;
}

/** Where rendering is: templates are rendered one at a time, without a wait. */
let current = { path: '', line: 0 };

/**
 * @param path as messages name the template.
 * @throws Error with path and line, if it is not a template.
 */
export function parse(source: string, path: string): Root {
  const tokens = lex(source, WHITE_SPACE);
  try {
    return new Parser(tokens).parseAsRoot();
  } catch (error) {
    // Some errors have no line. If a tag is never closed, the error is at the end of the file.
    const last = source.trimEnd().split('\n').length;
    throw new PlacedError(path, lineOf(error) || Math.min(tokens.lineno + 1, last), error);
  }
}

/**
 * @param root of {@link parse}; it is changed.
 * @param path as messages name the template.
 * @param check throws an Error with `lineno`, from 1, if the template makes no sense.
 * @throws Error with path and line, if it does not compile.
 */
export function compile(root: Root, path: string, check: (root: Root) => void): Code {
  try {
    check(root);
    const compiler = new PlacingCompiler(path, true);
    compiler.compile(transform(root, []));
    // oxlint-disable-next-line typescript/no-implied-eval -- nunjucks compiles templates to code
    const functions = new Function(OWN_RUNTIME, compiler.getCode());
    return { type: 'code', obj: functions(runtimeOf(path)) as Record<string, Render> };
  } catch (error) {
    if (error instanceof PlacedError) throw error;
    throw new PlacedError(path, lineOf(error) || 1, error);
  }
}

function lineOf(error: unknown): number | undefined {
  return (error as { lineno?: number }).lineno;
}

/** The runtime of nunjucks, with the path of the template that it runs in every error. */
function runtimeOf(path: string): object {
  return {
    ...nunjucks.runtime,
    /** @param line of the statement that begins, from 0. @param length of the text in it. */
    at(line: number, length: number) {
      current = { path, line };
      countSteps(1);
      countLength(length);
    },
    handleError(error: unknown) {
      if (error instanceof PlacedError) return error;
      return new PlacedError(current.path, current.line + 1, error);
    },
    /** @param line of the output, from 0. */
    ensureDefined(value: unknown, line: number) {
      if (value !== null && value !== undefined) {
        countLength((value as { readonly length?: number }).length ?? 0);
        return value;
      }
      throw new PlacedError(path, line + 1, new Error('attempted to output null or undefined'));
    },
  };
}
