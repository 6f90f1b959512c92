/**
 * What a power loss may leave of a disk: of everything that is not synced, each change by itself
 * has reached the device or not, independently of what came before or after it.
 *
 * - Changes of names: each happened or not. A name is as of the last one that did.
 * - Bytes that replace others: each write happened or not. They are one small record, which a
 *   device writes whole.
 * - Bytes by which a file grew: there, not there, cut off anywhere, or a length of zeros.
 */
import {
  directoryOf,
  emptyFile,
  type FileNode,
  type Node,
  overwritten,
  type Piece,
  type PowerDisk,
  renamed,
  Volume,
} from './power-disk.ts';
import type { Random } from './random.ts';

/** One thing that power loss decides: a change of names, or the content of a file. */
interface Doubt {
  readonly node: number;
  /** The change of names; undefined for a file. */
  readonly change?: number;
  /** From nothing of it to all of it; for a change of names null and any value. */
  readonly outcomes: readonly (Buffer | null)[];
}

/** The outcome of each doubt by its place. */
type Choice = readonly number[];

/** Everything that power loss decides at one moment. */
export class Doubts {
  readonly #volume: Volume;
  readonly #doubts: Doubt[] = [];

  /** @param random draws some of the endless ways in which a file may be cut off. */
  constructor(volume: Volume, random: Random) {
    this.#volume = volume;
    for (const number of named(volume)) {
      const node = volume.nodes.get(number) as Node;
      if (node.type === 'directory') {
        for (const { change } of node.pending) {
          this.#doubts.push({ node: number, change, outcomes: [null, NAMED] });
        }
      } else {
        const outcomes = contents(node, random);
        if (outcomes.length > 1) this.#doubts.push({ node: number, outcomes });
      }
    }
  }

  nothing(): Choice {
    return this.#doubts.map(() => 0);
  }

  everything(): Choice {
    return this.#doubts.map(({ outcomes }) => outcomes.length - 1);
  }

  random(random: Random): Choice {
    return this.#doubts.map(({ outcomes }) => random(outcomes.length));
  }

  /** Nothing survives; everything does; one alone is lost, or not whole; one alone survives. */
  *extremes(): Generator<Choice> {
    const [nothing, everything] = [this.nothing(), this.everything()];
    yield nothing;
    yield everything;
    for (const [place, { outcomes }] of this.#doubts.entries()) {
      for (let outcome = 0; outcome < outcomes.length; outcome += 1) {
        if (outcome !== everything[place]) yield everything.with(place, outcome);
        if (outcome !== 0) yield nothing.with(place, outcome);
      }
    }
  }

  /** Every combination. */
  *all(): Generator<Choice> {
    const choice = [...this.nothing()];
    for (;;) {
      yield [...choice];
      let place = 0;
      for (; place < choice.length; place += 1) {
        const next = (choice[place] as number) + 1;
        choice[place] = next % (this.#doubts[place] as Doubt).outcomes.length;
        if (choice[place] !== 0) break;
      }
      if (place === choice.length) return;
    }
  }

  /** How many combinations there are. */
  get combinations(): number {
    return this.#doubts.reduce((product, { outcomes }) => product * outcomes.length, 1);
  }

  /**
   * Everything survives but what a test picks.
   *
   * @param lost of a change of names in this directory, by its name there.
   */
  without(lost: (node: number, name: string) => boolean): Choice {
    return this.everything().map((outcome, place) => {
      const { node, change } = this.#doubts[place] as Doubt;
      const directory = this.#volume.nodes.get(node) as Node;
      if (directory.type === 'file') return outcome;
      const names = directory.pending.find((pending) => pending.change === change)?.names ?? [];
      return names.some(([name, to]) => to !== null && lost(node, name)) ? 0 : outcome;
    });
  }

  /** @returns the disk as the next start finds it, all of it durable. */
  leave(choice: Choice): Volume {
    const kept = new Set<number>();
    const files = new Map<number, Buffer>();
    for (const [place, { node, change, outcomes }] of this.#doubts.entries()) {
      const outcome = outcomes[choice[place] as number] as Buffer | null;
      if (change === undefined) files.set(node, outcome as Buffer);
      else if (outcome !== null) kept.add(change);
    }
    const nodes = new Map<number, Node>();
    const visit = (number: number) => {
      const node = this.#volume.nodes.get(number) as Node;
      if (node.type === 'file') {
        const content = files.get(number) ?? node.synced;
        nodes.set(number, { ...emptyFile(), synced: content, current: content });
        return;
      }
      const changes = node.pending.filter(({ change }) => kept.has(change));
      const names = renamed(
        node.synced,
        changes.map((change) => change.names),
      );
      nodes.set(number, directoryOf(names));
      for (const child of names.values()) visit(child);
    };
    visit(0);
    return new Volume(nodes);
  }
}

/** What a power loss leaves after so many changes of the disk. */
export interface Loss {
  readonly at: number;
  readonly left: Volume;
}

/**
 * What power losses leave at every moment: see {@link Doubts.extremes}, and some random ways.
 *
 * @param from changes of the disk before the first moment.
 */
export function* losses(
  disk: PowerDisk,
  from: number,
  random: Random,
  draws: number,
): Generator<Loss> {
  for (const [at, volume] of disk.moments(from)) {
    if (disk.midway(at)) continue;
    const doubts = new Doubts(volume, random);
    const choices = [...doubts.extremes()];
    for (let draw = 0; draw < draws; draw += 1) choices.push(doubts.random(random));
    const different = new Map(choices.map((choice) => [choice.join(), choice]));
    for (const choice of different.values()) yield { at, left: doubts.leave(choice) };
  }
}

/** Stands for a change of names that has happened. */
const NAMED = Buffer.alloc(0);

/** Whatever has a name in one of the outcomes, from the root on. */
function named(volume: Volume): Set<number> {
  const found = new Set([0]);
  for (const number of found) {
    const node = volume.nodes.get(number) as Node;
    if (node.type === 'file') continue;
    for (const child of node.synced.values()) found.add(child);
    for (const { names } of node.pending) {
      for (const [, child] of names) if (child !== null) found.add(child);
    }
  }
  return found;
}

/** What becomes of bytes that are not synced; a number is the length at which they are cut off. */
type Fate = 'lost' | 'kept' | 'zeros' | number;

/** What a file may hold, each once: first what is synced, last what was written. */
function contents({ synced, pending, current }: FileNode, random: Random): Buffer[] {
  if (pending.length === 0) return [synced];
  const found: Buffer[] = [synced];
  const add = (fate: (piece: Piece, place: number) => Fate) => {
    const content = composed(synced, pending, fate);
    if (!found.some((other) => other.equals(content))) found.push(content);
  };
  const last = pending.length - 1;
  for (const [place, { grows }] of pending.entries()) {
    if (grows) continue;
    add((_, other) => (other === place ? 'kept' : 'lost'));
    add((_, other) => (other <= place ? 'kept' : 'lost'));
  }
  add(({ grows }) => (grows ? 'zeros' : 'kept'));
  add(({ grows }) => (grows ? 'kept' : 'lost'));
  for (const fate of ['lost', 'zeros', 1] as const) {
    add(({ grows }, place) => (grows && place === last ? fate : 'kept'));
  }
  for (let draws = 0; draws < 2; draws += 1) {
    add(({ grows, bytes }) => {
      const fates: Fate[] = grows
        ? ['kept', 'kept', 'zeros', 'lost', random(bytes.length)]
        : ['kept', 'lost'];
      return fates[random(fates.length)] as Fate;
    });
  }
  const others = found.slice(1).filter((content) => !content.equals(current));
  return current.equals(synced) && others.length === 0 ? [synced] : [synced, ...others, current];
}

function composed(
  synced: Buffer,
  pending: readonly Piece[],
  fateOf: (piece: Piece, place: number) => Fate,
): Buffer {
  let content = synced;
  for (const [place, piece] of pending.entries()) {
    const fate = fateOf(piece, place);
    if (fate === 'lost') continue;
    const bytes = fate === 'zeros' ? Buffer.alloc(piece.bytes.length) : piece.bytes;
    const cut = typeof fate === 'number' ? bytes.subarray(0, fate) : bytes;
    content = overwritten(content, piece.offset, cut);
  }
  return content;
}
