// Addresses in a text: where one begins, and where it ends. The server reads them likewise
// (chat/markdown/addresses.py), and both are held to spec_fixtures/field/addresses.json.

import { BLANK, ESCAPE } from "./scanning.js";

/** Longer ones are text. */
const LONGEST = 2_048;

const SCHEME = "[hH][tT][tT][pP][sS]?:\\/\\/";
const ANY_SCHEME = `(?:${SCHEME}|[mM][aA][iI][lL][tT][oO]:)`;

// What an address cannot hold: blanks, controls and marks of direction, angle brackets, back ticks, quotation marks,
// and the punctuation of scripts that put no space behind it.
const ENDS =
  '\\u0000-\\u0020"<>\\\\`\\u007f-\\u00a0\\u00ab\\u00ad\\u00bb\\u1680\\u2000-\\u200b\\u200e\\u200f\\u201c-\\u201f' +
  "\\u2028-\\u202f\\u2039\\u203a\\u205f-\\u206f\\u3000-\\u3003\\u3008-\\u3011\\u3014-\\u301b\\u301d-\\u301f" +
  "\\ufeff\\uff01\\uff08\\uff09\\uff0c\\uff0e\\uff1a\\uff1b\\uff1f\\uff3b\\uff3d\\uff5b\\uff5d\\uff5f-\\uff64";

const BEGINNING = new RegExp(`(?<![A-Za-z0-9])${SCHEME}(?![/?#])`, "y");
const HELD = new RegExp(`(?:[^${ENDS}|]|\\|(?!\\|))+`, "y");
const BRACKETED = new RegExp(`<(${ANY_SCHEME}[^\\u0000-\\u0020<>${BLANK}]+)>`, "y");
const POINTED = /<((?:[^<>\\\n]|\\[^\n])*)>/y;
const LEADS_SOMEWHERE = new RegExp(`^${ANY_SCHEME}[^]`);
const TITLE =
  "\"(?:[^\"\\\\]|\\\\[^])*\"|'(?:[^'\\\\]|\\\\[^])*'|\\((?:[^()\\\\]|\\\\[^])*\\)";
const BEHIND = new RegExp(`(?:[${BLANK}]+(?:(?:${TITLE})[${BLANK}]*)?)?\\)`, "y");
const PARENTHESES = new RegExp(`${ESCAPE}|\\([${BLANK}]*|\\)|[${BLANK}]`, "g");
const INSIDE = new RegExp(`[${BLANK}]*`, "y");
const UNESCAPED = new RegExp(ESCAPE, "g");

// What ends the sentence around an address, rather than the address.
const TRAILING = new Set(".,:;!?'|\u2018\u2019\u2026\u2013\u2014\u060c\u061b\u061f\u06d4\u0964\u0965");
/** @type {Readonly<Record<string, string>>} */
const OPENING = { ")": "(", "]": "[", "}": "{" };

/**
 * The runs of characters that an address can hold, in one text. Whoever asks for the end of a run from several of its
 * places costs one look at it: `https://)https://)` has one run and many addresses that end at once.
 * @param {string} text
 * @returns {(at: number) => number} where the run ends that a place is in, or the place itself; places only grow
 */
export function runsOf(text) {
  let end = 0;
  return (at) => {
    if (at < end) return end;
    HELD.lastIndex = at;
    end = HELD.test(text) ? HELD.lastIndex : at;
    return end;
  };
}

/**
 * Where the address ends that begins here; -1 where none does.
 * @param {string} text
 * @param {number} at
 * @param {(at: number) => number} runEnd Of `runsOf`.
 * @param {(mark: string) => boolean} isOpen Whether a mark such as `*` was opened before and may close behind it.
 */
export function bareEnd(text, at, runEnd, isOpen) {
  BEGINNING.lastIndex = at;
  if (!BEGINNING.test(text)) return -1;
  const begin = BEGINNING.lastIndex;
  const end = runEnd(begin);
  return end === begin ? -1 : at + withoutTail(withoutStrangeBracket(text.slice(at, end)), isOpen);
}

/**
 * An address in angle brackets that begins here.
 * @param {string} text
 * @param {number} at
 * @returns {{href: string, end: number} | null}
 */
export function bracketed(text, at) {
  BRACKETED.lastIndex = at;
  const found = BRACKETED.exec(text);
  return found && { href: found[1] ?? "", end: BRACKETED.lastIndex };
}

/**
 * What leads out of a named link: `(address)`, `(<address>)`, either with a title behind the address. In all of a text
 * they are found in one pass.
 * @param {string} text
 * @param {number} at Where the bracket may open.
 * @param {Map<number, number>} ends Of `parentheses`.
 * @returns {{href: string, end: number} | null}
 */
export function destination(text, at, ends) {
  if (text[at] !== "(") return null;
  INSIDE.lastIndex = at + 1;
  INSIDE.exec(text);
  const start = INSIDE.lastIndex;
  POINTED.lastIndex = start;
  const pointed = POINTED.exec(text);
  const end = pointed ? POINTED.lastIndex : ends.get(at);
  if (end === undefined) return null;
  const href = (pointed ? pointed[1] ?? "" : text.slice(start, end)).replace(UNESCAPED, (pair) => pair.slice(1));
  BEHIND.lastIndex = end;
  return LEADS_SOMEWHERE.test(href) && BEHIND.test(text) ? { href, end: BEHIND.lastIndex } : null;
}

/**
 * For each bracket that opens: where the address in it ends, at the bracket that belongs to it or at a blank.
 * @param {string} text
 * @returns {Map<number, number>}
 */
export function parentheses(text) {
  const ends = new Map();
  /** @type {number[]} */
  let open = [];
  for (const { 0: found, index } of text.matchAll(PARENTHESES)) {
    if (found[0] === "(") open.push(index);
    else if (found === ")") ends.set(open.pop(), index);
    else if (found.length === 1) {
      ends.set(open.at(-1), index);
      open = [];
    }
  }
  return ends;
}

/**
 * Whether a browser can go there.
 * @param {string} href
 */
export function leadsSomewhere(href) {
  return href.length <= LONGEST && URL.canParse(href);
}

/**
 * The address up to a bracket that it did not open itself.
 * @param {string} href
 */
function withoutStrangeBracket(href) {
  /** @type {Record<string, number>} */
  const open = { "(": 0, "[": 0, "{": 0 };
  for (let at = 0; at < href.length; at += 1) {
    const character = href[at] ?? "";
    const opening = OPENING[character];
    if (opening === undefined) {
      if (character in open) open[character] += 1;
    } else {
      open[opening] -= 1;
      if (open[opening] < 0) return href.slice(0, at);
    }
  }
  return href;
}

/**
 * How long it is without the punctuation around it.
 * @param {string} href
 * @param {(mark: string) => boolean} isOpen
 */
function withoutTail(href, isOpen) {
  let end = href.length;
  while (TRAILING.has(href[end - 1] ?? "") || isOpen(href[end - 1] ?? "")) end -= 1;
  return end;
}
