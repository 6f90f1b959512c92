/**
 * Keeps the owner of the directory from showing an older state than its workers. A worker shows a
 * change set as soon as it has applied it. The owner applies it when all workers have, which one
 * that is stuck delays by seconds. A client may have read the change set by then, and its next
 * request may be one that the owner carries out.
 */
import type { Application } from '../../http/application.ts';
import type { Arrivals } from '../../resources/changes/arrivals.ts';

interface Options {
  /** The last change set that workers may show. */
  readonly shown: () => number;
  /** When the owner shows a change set; null if it has no catalog. */
  readonly arrivals: () => Pick<Arrivals, 'past'> | null;
  /** The path of `/readyz`, which shows nothing of the catalog. */
  readonly readiness: string;
}

/** @returns the application, for requests that have passed through a worker. */
export function notBehind(
  application: Application,
  { shown, arrivals, readiness }: Options,
): Application {
  return async (request) => {
    if (request.path !== readiness) await arrivals()?.past(shown() - 1);
    return await application(request);
  };
}
