import type { Kind, KindName } from './kind.ts';
import { ALL_KINDS } from './kinds.ts';

/** A record with one value for each kind. */
export function perKind<T>(make: (kind: Kind) => T): Record<KindName, T> {
  const entries = ALL_KINDS.map((kind) => [kind.name, make(kind)] as const);
  return Object.fromEntries(entries) as Record<KindName, T>;
}
