// What stands in a text, character by character, as client and server tell it alike (chat/markdown/scanning.py). Each
// look is over in one pass.

/** Blanks, for a class of characters: what `\s` means differs between languages. */
export const BLANK = "\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff";

/** A mark that stands for itself. */
export const ESCAPE = "\\\\[!-/:-@\\[-`{-~]";

// Scripts without spaces between words: marks open and close beside their punctuation.
const UNSPACED =
  /[\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\u{20000}-\u{3fffd}]/u;
const BLANKS = new RegExp(`^[${BLANK}]*$`);
const PUNCTUATION = /[\p{P}\p{S}]/u;

/**
 * Whether there are only blanks.
 * @param {string} text
 */
export function isBlank(text) {
  return BLANKS.test(text);
}

/**
 * How often a character stands here in a row.
 * @param {string} text
 * @param {number} at
 */
export function runLength(text, at) {
  let end = at;
  while (text[end] === text[at]) end += 1;
  return end - at;
}

/**
 * Where the next run of exactly `length` back ticks begins; -1 for none.
 * @param {string} text
 * @param {number} from
 * @param {number} ticks
 */
export function closingTicks(text, from, ticks) {
  let at = text.indexOf("`", from);
  while (at !== -1) {
    const length = runLength(text, at);
    if (length === ticks) return at;
    at = text.indexOf("`", at + length);
  }
  return -1;
}

/**
 * Whether a run of marks may open and may close something, by what stands beside it (CommonMark, Emphasis).
 * @param {string} text
 * @param {number} at
 * @param {number} length
 */
export function flanking(text, at, length) {
  const before = characterBefore(text, at);
  const after = String.fromCodePoint(text.codePointAt(at + length) ?? 10);
  const [blankBefore, blankAfter] = [isBlank(before), isBlank(after)];
  const [pointBefore, pointAfter] = [PUNCTUATION.test(before), PUNCTUATION.test(after)];
  const left = !blankAfter && (!pointAfter || blankBefore || pointBefore || UNSPACED.test(before));
  const right = !blankBefore && (!pointBefore || blankAfter || pointAfter || UNSPACED.test(after));
  if (text[at] !== "_") return { opens: left, closes: right };
  return { opens: left && (!right || pointBefore), closes: right && (!left || pointAfter) };
}

/**
 * @param {string} text
 * @param {number} at
 */
function characterBefore(text, at) {
  const last = text[at - 1] ?? "\n";
  return /[\udc00-\udfff]/.test(last) && at > 1 ? String.fromCodePoint(text.codePointAt(at - 2) ?? 10) : last;
}
