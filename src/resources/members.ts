/** Unknown members of a body: ignored, unless the client asks for an error (spec 2.11). */
import type { Kind } from '../model/kind.ts';
import { KINDS } from '../model/kinds.ts';
import { perKind } from '../model/per-kind.ts';
import { isObject } from '../model/schemas.ts';
import type { Problems } from './input.ts';
import { unknownName } from './query/nearest.ts';
import { visibleAttributes } from './visible-attributes.ts';

/** The members that an object may have, and those of the objects in its arrays. */
export interface Members {
  readonly names: ReadonlySet<string>;
  readonly elements: ReadonlyMap<string, Members>;
}

/** All members of a kind's object, also those that clients cannot set; an SPU has two names. */
export function membersOf({ name }: Kind): Members {
  return MEMBERS[name];
}

const MEMBERS = perKind((kind) => {
  const names = new Set<string>();
  const elements = new Map<string, Members>();
  for (const [name, declared] of visibleAttributes(kind)) {
    names.add(name);
    if (declared.role === 'input' && declared.request !== undefined) names.add(declared.request);
    if (declared.role !== 'children') continue;
    const own = visibleAttributes(KINDS[declared.kind]).map(([attribute]) => attribute);
    elements.set(name, { names: new Set(own), elements: new Map() });
  }
  return { names, elements };
});

/** The names of members at any depth. */
export function namesIn({ names, elements }: Members): ReadonlySet<string> {
  return new Set([...names, ...elements.values().flatMap(namesIn)]);
}

/**
 * Adds a problem for each unknown member. A value of a wrong type is not a problem here. Yields
 * between members.
 *
 * @param path of the value, such as `specs.0.`; empty for the whole body.
 */
export function* reportUnknown(
  members: Members,
  value: unknown,
  path: string,
  problems: Problems,
): Generator<undefined, void> {
  if (Array.isArray(value)) {
    for (const [index, element] of value.entries()) {
      if (problems.full) return;
      yield* reportUnknown(members, element, `${path}${index}.`, problems);
    }
    return;
  }
  if (!isObject(value)) return;
  for (const name of Object.keys(value)) {
    if (problems.full) return;
    yield;
    const own = members.elements.get(name);
    if (own !== undefined) yield* reportUnknown(own, value[name], `${path}${name}.`, problems);
    if (members.names.has(name)) continue;
    const { quoted, hint } = unknownName(name, members.names);
    problems.add(`${path}${quoted}`, `is not known here${hint}`);
  }
}
