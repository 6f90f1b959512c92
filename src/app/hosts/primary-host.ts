/** A host that needs no other one; others may follow it. */
import type { Membership } from './membership.ts';
import type { Host, HostParts } from './host.ts';
import { notifyPredecessors } from './notify-predecessor.ts';

export class PrimaryHost implements Host {
  readonly #parts: HostParts;
  readonly #membership: Membership;

  constructor(parts: HostParts, membership: Membership) {
    this.#parts = parts;
    this.#membership = membership;
  }

  readonly reason = (): null => null;

  readonly following = (): null => null;

  async begin(): Promise<void> {
    await this.#parts.current.open(this.#membership);
  }

  run(): Promise<void> {
    return notifyPredecessors(this.#parts);
  }
}
