// Where found words stand in a text, as the search compares them: without case and accents, from the beginning of a
// word, in scripts without spaces anywhere.

import { h } from "../../base/dom.js";

const WORDS = /[\p{L}\p{M}\p{N}]+/gu;
const SCRIPTS = ["Han", "Hiragana", "Katakana", "Hangul", "Thai", "Lao", "Khmer", "Myanmar"];
const SPACELESS = new RegExp(`[${SCRIPTS.map((name) => `\\p{sc=${name}}`).join("")}]`, "u");
/** @type {Readonly<Record<string, string>>} letters whose stroke is no accent */
const STROKES = { ł: "l", ø: "o", đ: "d", ħ: "h", ŧ: "t", ı: "i" };

/** @param {string} text */
function folded(text) {
  const plain = text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  return plain.replace(/[łøđħŧı]/g, (letter) => STROKES[letter] ?? letter);
}

/**
 * Parts of a text that a search for these words has found, in their order.
 * @param {string} text
 * @param {string} wanted
 * @returns {{start: number, end: number}[]}
 */
export function hits(text, wanted) {
  const words = (wanted.match(WORDS) ?? []).map(folded).filter((word) => word !== "");
  /** @type {{start: number, end: number}[]} */
  const found = [];
  for (const match of words.length === 0 ? [] : text.matchAll(WORDS)) {
    const [run] = match;
    for (const part of SPACELESS.test(run) ? within(run, words) : beginning(run, words))
      found.push({ start: match.index + part.start, end: match.index + part.end });
  }
  return found;
}

/** @param {string} run @param {string[]} words */
function beginning(run, words) {
  return words.some((word) => folded(run).startsWith(word)) ? [{ start: 0, end: run.length }] : [];
}

/** @param {string} run @param {string[]} words */
function within(run, words) {
  const parts = [];
  for (let start = 0; start < run.length; ) {
    const end = words.map((word) => endOf(run, start, word)).sort((one, other) => other - one)[0] ?? 0;
    if (end > start) parts.push({ start, end });
    start = Math.max(end, start + 1);
  }
  return parts;
}

/**
 * Where a word ends that begins there; 0 where it does not.
 * @param {string} run
 * @param {number} start
 * @param {string} word
 */
function endOf(run, start, word) {
  for (let end = start + 1; end <= run.length; end += 1) {
    const plain = folded(run.slice(start, end));
    if (plain === word) return end;
    if (!word.startsWith(plain)) return 0;
  }
  return 0;
}

/**
 * Marks them in what is shown.
 * @param {Element} element
 * @param {string} wanted
 */
export function mark(element, wanted) {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) texts.push(/** @type {Text} */ (walker.currentNode));
  for (const node of texts) {
    const found = hits(node.data, wanted);
    if (found.length === 0) continue;
    /** @type {(string | Node)[]} */
    const parts = [];
    let end = 0;
    for (const one of found) {
      parts.push(node.data.slice(end, one.start), h("mark", { class: "hit" }, node.data.slice(one.start, one.end)));
      end = one.end;
    }
    node.replaceWith(...parts, node.data.slice(end));
  }
}
