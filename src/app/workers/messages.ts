/** The messages between the owner of a data directory and its workers. */
import type { Code } from '../../errors.ts';
import type { ProcessFigures } from '../../telemetry/process-metrics.ts';

export type ToWorker =
  | {
      readonly kind: 'state';
      /** The last change set that is durable. */
      readonly sequence: number;
      /** The lowest sequence after which the change sets are kept. */
      readonly oldest: number;
      /** Whether writes wait for this worker from now on. */
      readonly isMember: boolean;
    }
  | { readonly kind: 'figures' }
  | { readonly kind: 'close' };

export type FromWorker =
  /** The worker has all change sets up to this one. */
  | { readonly kind: 'applied'; readonly sequence: number }
  | { readonly kind: 'listening'; readonly url: string }
  /** Sent once a second: the event loop of the worker turns. */
  | { readonly kind: 'alive' }
  | { readonly kind: 'figures'; readonly figures: ProcessFigures }
  /** The worker cannot serve, and ends. */
  | { readonly kind: 'failed'; readonly code: Code; readonly message: string };
