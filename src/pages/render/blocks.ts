/**
 * Finds mistakes with blocks. A template that extends another one is only its blocks, and of these
 * only those that the other one has. nunjucks drops the rest silently, so that a misspelt block
 * would make an empty page.
 */
import { Block, Extends, Literal, Output, type Root, TemplateData } from 'nunjucks/src/nodes.js';

/** Blocks that a layout may leave out, although built-in templates fill them. */
const OPTIONAL = ['title', 'meta'];

/** An error in a template, as nunjucks reports them. */
class BlockError extends Error {
  /** From 1. */
  readonly lineno: number;

  constructor(message: string, lineno: number) {
    super(message);
    this.lineno = lineno;
  }
}

/**
 * @param root a template. If it extends one whose name is known only at run time, the names of its
 *   blocks are not checked.
 * @param read returns a template by its name; null if there is none.
 * @throws Error with `lineno`, if the template has a name twice, or something that is on no page.
 */
export function checkBlocks(root: Root, read: (name: string) => Root | null): void {
  const blocks = root.findAll(Block);
  for (const [index, block] of blocks.entries()) {
    if (blocks.findIndex((other) => nameOf(other) === nameOf(block)) === index) continue;
    throw new BlockError(`two blocks are called ${nameOf(block)}`, block.lineno + 1);
  }
  // One that extends another only under a condition is a page by itself otherwise.
  if (!root.children.some((node) => node instanceof Extends)) return;
  for (const node of root.children) {
    const line = node instanceof Output ? lineOf(node) : null;
    if (line === null) continue;
    throw new BlockError(
      'only what is in a block is on the page, because this template extends another one',
      line,
    );
  }
  const known = blocksAbove(root, read, new Set());
  if (known === null) return;
  const nested = new Set(blocks.flatMap((block) => block.findAll(Block)));
  const shown = new Set([...OPTIONAL, ...known]);
  const lost = blocks.find((block) => !nested.has(block) && !shown.has(nameOf(block)));
  if (lost === undefined) return;
  const names = [...known].toSorted().join(', ') || 'none';
  throw new BlockError(
    `no block is called ${nameOf(lost)} in a template that this one extends; there are ${names}`,
    lost.lineno + 1,
  );
}

function nameOf(block: Block): string {
  return String(block.name.value);
}

/** @returns the line of the first text or expression, from 1; null if it is all white space. */
function lineOf({ lineno, children }: Output): number | null {
  for (const node of children) {
    const text = node instanceof TemplateData ? node.value : 'an expression';
    const blank = /^\s*/.exec(text)?.[0] ?? '';
    if (blank.length < text.length) return lineno + blank.split('\n').length;
  }
  return null;
}

/**
 * @param seen names of templates below, so that a cycle ends.
 * @returns the blocks of all templates that one extends; null if not all of these are known.
 */
function blocksAbove(
  root: Root,
  read: (name: string) => Root | null,
  seen: ReadonlySet<unknown>,
): Set<string> | null {
  const blocks = new Set<string>();
  for (const { template } of root.findAll(Extends)) {
    const name = template instanceof Literal ? template.value : null;
    const parent = typeof name === 'string' && !seen.has(name) ? read(name) : null;
    const above = parent && blocksAbove(parent, read, new Set([...seen, name]));
    if (parent === null || above === null) return null;
    for (const block of [...parent.findAll(Block).map(nameOf), ...above]) blocks.add(block);
  }
  return blocks;
}
