/** Finds the row of the table of operations for the path of a request. */
import { Router } from 'itty-router';
import type { Params } from './operations/params.ts';
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

/**
 * Finds paths with itty-router and caches the results by the shape of the path: the path with every
 * number replaced by 0. So each path of the table is searched for only once.
 */
export class Routes {
  readonly #router = Router<Target>();
  /** Bounded by the table: a shape that matches no path is not cached. */
  readonly #known = new Map<string, Path>();
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
    const shape = path.replace(/\d+/g, '0');
    const known = this.#known.get(shape);
    if (known !== undefined) {
      const params = known.match(path);
      return params === null ? undefined : { path: known, params };
    }
    for (const candidate of this.#matchedWhole) {
      const params = candidate.match(path);
      if (params !== null) return { path: candidate, params };
    }
    // The other paths of the table have letters, digits and a few marks only, and no segment is
    // empty or begins with a dot. So there is nothing to normalise or to decode.
    return /[^\w./-]|\/[./]/.test(path) ? undefined : this.#look(path, shape);
  }

  async #look(path: string, shape: string): Promise<Route | undefined> {
    const url = `http://catalog${path}`;
    const route: Route | undefined = await this.#router.fetch({ method: 'GET', url, path });
    if (route?.path.parameters.every(({ memorable }) => memorable) === true) {
      this.#known.set(shape, route.path);
    }
    return route;
  }
}
