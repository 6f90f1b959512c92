/**
 * Reports errors in templates with file and line. nunjucks itself always names the file of the
 * page, even if the error is in a template that it extends or includes; counts lines from 0 in some
 * places and from 1 in others; and throws errors in included templates where they cannot be caught.
 * So every template is compiled before nunjucks loads it, and runs with a runtime that knows to
 * which template an error belongs.
 */
import nunjucks from 'nunjucks';
import { messageOf } from '../../errors.ts';

/** An error with its place. */
class PlacedError extends Error {
  constructor(path: string, line: number, cause: unknown) {
    // A message of nunjucks states a place of its own on the lines before.
    super(`${path}:${line}: ${messageOf(cause).replace(/^[\s\S]*\n\s*/, '')}`, { cause });
  }

  /** nunjucks calls this to add the page's file to an error; this one already has its file. */
  Update(): this {
    return this;
  }
}

type Render = (...args: readonly unknown[]) => unknown;

/** A template as nunjucks compiles it; not in its types. */
interface Compiled {
  readonly rootRenderFunc: Render;
  readonly blocks: Readonly<Record<string, Render>>;
}

/** A compiled template, as a loader may return it. */
export interface Code {
  readonly type: 'code';
  readonly obj: Readonly<Record<string, Render>>;
}

/**
 * @param path as messages name the template.
 * @throws Error with path and line, if it does not compile.
 */
export function compile(environment: nunjucks.Environment, source: string, path: string): Code {
  const runtime = runtimeOf(path);
  const placed =
    (render: Render): Render =>
    (env, context, frame, _, done) =>
      render(env, context, frame, runtime, done);
  const { rootRenderFunc, blocks } = compiled(environment, source, path);
  const named = Object.entries(blocks).map(([name, render]) => [`b_${name}`, placed(render)]);
  return { type: 'code', obj: { ...Object.fromEntries(named), root: placed(rootRenderFunc) } };
}

function compiled(environment: nunjucks.Environment, source: string, path: string): Compiled {
  try {
    return new nunjucks.Template(source, environment, path, true) as unknown as Compiled;
  } catch (error) {
    // If a tag is never closed, the error is at the end of the file and has no line number.
    const line = /\[Line (\d+)/.exec(messageOf(error))?.[1];
    throw new PlacedError(path, Number(line ?? source.trimEnd().split('\n').length), error);
  }
}

/** The runtime of nunjucks, with the path of the template that it runs in every error. */
function runtimeOf(path: string): object {
  return {
    ...nunjucks.runtime,
    /** @param line of the current statement, from 0. */
    handleError(error: unknown, line: number) {
      return error instanceof PlacedError ? error : new PlacedError(path, line + 1, error);
    },
    /** @param line of the output, from 0. */
    ensureDefined(value: unknown, line: number) {
      if (value !== null && value !== undefined) return value;
      throw new PlacedError(path, line + 1, new Error('attempted to output null or undefined'));
    },
  };
}
