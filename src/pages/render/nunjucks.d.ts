// The parts of nunjucks that compile a template; its own types leave them out.

interface TemplateNode {
  readonly typename: string;
  /** From 0. */
  readonly lineno: number;
  /** All nodes of a type below this one. */
  findAll<T extends TemplateNode>(type: abstract new () => T): T[];
}

declare module 'nunjucks/src/nodes.js' {
  abstract class Node implements TemplateNode {
    readonly typename: string;
    readonly lineno: number;
    findAll<T extends TemplateNode>(type: abstract new () => T): T[];
  }
  abstract class Value extends Node {
    readonly value: unknown;
  }
  export abstract class Root extends Node {
    readonly children: readonly Node[];
  }
  /** Text and expressions that are output. */
  export abstract class Output extends Node {
    readonly children: readonly Node[];
  }
  export abstract class TemplateData extends Node {
    readonly value: string;
  }
  export abstract class Literal extends Value {}
  export abstract class Block extends Node {
    readonly name: Value;
  }
  export abstract class Extends extends Node {
    readonly template: Node;
  }
}

declare module 'nunjucks/src/lexer.js' {
  /** The tokens of a template, which are read while it is parsed. */
  export interface Tokens {
    /** Where the reader is, from 0. */
    readonly lineno: number;
  }
  export function lex(
    source: string,
    options: { readonly trimBlocks: boolean; readonly lstripBlocks: boolean },
  ): Tokens;
}

declare module 'nunjucks/src/compiler.js' {
  export class Compiler {
    constructor(name: string, throwOnUndefined: boolean);
    compile(node: TemplateNode, frame?: unknown): void;
    getCode(): string;
    _emitFuncBegin(node: TemplateNode, name: string): void;
    _emitLine(code: string): void;
    /** The head of a function that gets a result, and what it does with an error. */
    _makeCallback(result: string): string;
  }
}

declare module 'nunjucks/src/parser.js' {
  import type { Tokens } from 'nunjucks/src/lexer.js';
  import type { Root } from 'nunjucks/src/nodes.js';

  export class Parser {
    constructor(tokens: Tokens);
    parseAsRoot(): Root;
  }
}

declare module 'nunjucks/src/transformer.js' {
  /** Lifts calls of `super()` out of expressions. */
  export function transform(root: TemplateNode, asyncFilters: readonly string[]): TemplateNode;
}
