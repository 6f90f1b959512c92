/** Finds the row of the table of operations for the path of a request. */
import { Router } from 'itty-router';
import { DIGITS } from './operations/parameters.ts';
import { Params } from './operations/params.ts';
import type { Path } from './operations/path.ts';

/** A path of the table, and the values of its parameters. */
export interface Route {
  readonly path: Path;
  readonly params: Params;
}

/** A request as itty-router takes it. */
interface Target {
  readonly method: 'GET';
  readonly url: string;
  readonly path: string;
}

/** A path of a request, divided into its numbers and the rest. */
interface Shape {
  /** The path with every number replaced by 0. */
  readonly text: string;
  /** The digits of the numbers, in their order. */
  readonly numbers: readonly string[];
}

/** A path of the table whose shape is known. */
interface Known {
  readonly path: Path;
  /** The names of its parameters if the numbers of a path are their values, otherwise null. */
  readonly names: readonly string[] | null;
}

/**
 * Finds paths with itty-router and caches the results by the shape of the path. So each path of the
 * table is searched for only once.
 */
export class Routes {
  readonly #router = Router<Target>();
  /** Bounded by the table: a shape that matches no path is not cached. */
  readonly #known = new Map<string, Known>();
  /** Paths that itty-router cannot match. */
  readonly #matchedWhole: readonly Path[];

  constructor(table: readonly Path[]) {
    this.#matchedWhole = table.filter(({ matchedWhole }) => matchedWhole === true);
    for (const path of table) {
      if (path.matchedWhole === true) continue;
      // itty-router accepts any number of slashes at the end; the template decides.
      this.#router.all(path.template.replace(/\{(\w+)\}/g, ':$1'), (target) => {
        const params = path.match(target.path);
        return params === null ? undefined : { path, params };
      });
    }
  }

  /** @param path without the base path and the version; undefined if the table has no such path. */
  find(path: string): Route | undefined | Promise<Route | undefined> {
    const shape = shapeOf(path);
    const known = this.#known.get(shape.text);
    if (known !== undefined) {
      const { names } = known;
      const params = names === null ? known.path.match(path) : new Params(names, shape.numbers);
      return params === null ? undefined : { path: known.path, params };
    }
    for (const candidate of this.#matchedWhole) {
      const params = candidate.match(path);
      if (params !== null) return { path: candidate, params };
    }
    // The other paths of the table have letters, digits and a few marks only, so there is nothing to
    // decode.
    return /[^\w./-]/.test(path) ? undefined : this.#look(path, shape.text);
  }

  async #look(path: string, shape: string): Promise<Route | undefined> {
    const url = `http://catalog${path}`;
    const route: Route | undefined = await this.#router.fetch({ method: 'GET', url, path });
    if (route?.path.memorable === true) {
      this.#known.set(shape, { path: route.path, names: namesOfNumbers(route.path) });
    }
    return route;
  }
}

/** A regular expression would take several times as long, and every request comes here. */
function shapeOf(path: string): Shape {
  const numbers: string[] = [];
  let [text, from, at] = ['', 0, 0];
  while (at < path.length) {
    const first = at;
    while (isDigit(path.charCodeAt(at))) at += 1;
    if (at === first) {
      at += 1;
      continue;
    }
    numbers.push(path.slice(first, at));
    text += `${path.slice(from, first)}0`;
    from = at;
  }
  return { text: text + path.slice(from), numbers };
}

/** @param unit a UTF-16 unit; NaN at the end of a string. */
function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39;
}

function namesOfNumbers({ template, parameters }: Path): readonly string[] | null {
  const only = parameters.every(({ pattern }) => pattern === DIGITS);
  return only && !/\d/.test(template) ? parameters.map(({ name }) => name) : null;
}
