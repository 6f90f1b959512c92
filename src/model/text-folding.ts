/**
 * Texts as a search compares them: without regard to case, accents and width (spec 4.7).
 */

/** ASCII except capital letters: such a text is folded already. */
const FOLDED_ASCII = /^[\0-@[-\x7f]*$/;

const ASCII = /^[\0-\x7f]*$/;

const MARKS = /\p{M}/gu;

const WHITE_SPACE = /\p{White_Space}/u;

/**
 * Compatibility decomposition (Unicode NFKD), without marks, with full case folding: "Ｓtraße" and
 * "STRASSE" are the same.
 */
export function foldText(text: string): string {
  if (FOLDED_ASCII.test(text)) return text;
  if (ASCII.test(text)) return text.toLowerCase();
  // Folding may give characters that decompose, and decomposing characters that fold.
  return decomposed(caseFolded(decomposed(text)));
}

function decomposed(text: string): string {
  return text.normalize('NFKD').replace(MARKS, '');
}

/**
 * Unicode's full case folding, by way of upper case: "ß" becomes "SS" and then "ss". The exceptions
 * are "ı", which stays as it is although its upper case is "I"; "ẞ", which is upper case already
 * and only becomes "ß"; and "ς", the form of "σ" at the end of a word.
 */
function caseFolded(text: string): string {
  return text
    .split('ı')
    .map((part) => part.toUpperCase().toLowerCase())
    .join('ı')
    .replaceAll('ß', 'ss')
    .replaceAll('ς', 'σ');
}

/**
 * The words of a folded text, which Unicode white space separates.
 *
 * @param folded a result of {@link foldText}.
 */
export function wordsOf(folded: string): string[] {
  const words: string[] = [];
  let begin = -1;
  for (let at = 0; at <= folded.length; at += 1) {
    if (at < folded.length && !isWhiteSpace(folded, at)) {
      if (begin < 0) begin = at;
    } else if (begin >= 0) {
      words.push(folded.slice(begin, at));
      begin = -1;
    }
  }
  return words;
}

function isWhiteSpace(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  if (unit > 0x20 && unit < 0x7f) return false;
  if (unit === 0x20) return true;
  return WHITE_SPACE.test(text.charAt(at));
}
