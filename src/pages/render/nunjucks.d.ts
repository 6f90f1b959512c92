// The parts of nunjucks that compile a template; its own types leave them out.

interface TemplateNode {
  readonly typename: string;
  /** From 0. */
  readonly lineno: number;
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
  export function parse(
    source: string,
    extensions: readonly unknown[],
    options: { readonly trimBlocks: boolean; readonly lstripBlocks: boolean },
  ): TemplateNode;
}

declare module 'nunjucks/src/transformer.js' {
  /** Lifts calls of `super()` out of expressions. */
  export function transform(root: TemplateNode, asyncFilters: readonly string[]): TemplateNode;
}
