// Looking ahead in a line: where runs, brackets and addresses end. Each look is over in one pass.

const PUNCTUATION = new Set([...".,:;!?'\"*_~|\\"]);

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
 * Where the next run of exactly so many back ticks begins; -1 for none.
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
 * For each `[` the `]` that belongs to it, in one pass.
 * @param {string} text
 * @returns {Map<number, number>}
 */
export function closings(text) {
  const found = new Map();
  const open = [];
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === "\\") at += 1;
    else if (text[at] === "[") open.push(at);
    else if (text[at] === "]" && open.length > 0) found.set(open.pop(), at);
  }
  return found;
}

/**
 * An address without the punctuation of the sentence around it; a closing bracket stays if it was opened.
 * @param {string} href
 */
export function withoutTail(href) {
  let end = href.length;
  let opened = 0;
  for (const character of href) opened += character === "(" ? 1 : character === ")" ? -1 : 0;
  for (;;) {
    const last = href[end - 1] ?? "";
    if (last === ")" && opened < 0) opened += 1;
    else if (!PUNCTUATION.has(last)) return href.slice(0, end);
    end -= 1;
  }
}
