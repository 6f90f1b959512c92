/** A limited number of places for requests whose clients are known only by their addresses. */
import type { CatalogError } from '../errors.ts';
import { networkOf } from '../network.ts';
import { Places } from '../resources/limits/places.ts';
import type { HttpRequest } from './message.ts';

export class ClientPlaces {
  readonly #places: Places;

  /**
   * @param total places, of which one client gets half.
   * @param refusal makes the failure if there is no place: `own` if the client has its half already.
   */
  constructor(total: number, refusal: (limit: 'own' | 'all') => CatalogError) {
    this.#places = new Places({ total, share: Math.ceil(total / 2), refusal });
  }

  /** The number of places that are taken. */
  get taken(): number {
    return this.#places.taken;
  }

  /**
   * @returns a function that gives the place of a request back. Later calls of it have no effect.
   * @throws CatalogError as the refusal makes it.
   */
  take({ address }: HttpRequest): () => void {
    return this.#places.take(networkOf(address));
  }
}
