/** Characters of an unknown name that a message repeats, at most. */
const MAX_QUOTED = 64;

/**
 * An unknown name for a message.
 *
 * @returns the name, which is cut if it is long, and a question that ends the message.
 */
export function unknownName(
  name: string,
  known: Iterable<string>,
): { readonly quoted: string; readonly hint: string } {
  const begin = name.slice(0, MAX_QUOTED).toWellFormed();
  const suggestion = nearest(begin, known);
  return {
    quoted: begin === name ? name : `${begin}…`,
    hint: suggestion === null ? '' : `; did you mean ${suggestion}?`,
  };
}

/**
 * The candidate that is most similar to a word, ignoring case; null without candidates.
 *
 * @param word must be short: the time grows with its length times that of all candidates.
 * @param maxEdits letters that may differ; a candidate with more is not similar.
 */
export function nearest(
  word: string,
  candidates: Iterable<string>,
  maxEdits = Number.POSITIVE_INFINITY,
): string | null {
  let best: { readonly candidate: string; readonly distance: number } | null = null;
  for (const candidate of candidates) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance <= maxEdits && (best === null || distance < best.distance)) {
      best = { candidate, distance };
    }
  }
  return best?.candidate ?? null;
}

/** The insertions, deletions and replacements that turn one word into another (Levenshtein). */
function editDistance(from: string, to: string): number {
  // Each row has the distances of one prefix of `from` to every prefix of `to`.
  let row = Array.from({ length: to.length + 1 }, (_, length) => length);
  for (let i = 0; i < from.length; i += 1) {
    const next = [i + 1];
    for (let j = 0; j < to.length; j += 1) {
      const replaced = (row[j] ?? 0) + (to[j] === from[i] ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
