// Colours for code: comments, strings, numbers and a language's own words. One pass; an unknown language has none.

import { GRAMMARS } from "./grammars.js";

/** @typedef {import("./grammars.js").Grammar} Grammar */
/** @typedef {{kind: "" | "comment" | "string" | "number" | "word" | "added" | "removed", text: string}} Piece */

const NUMBER = /0[xX][0-9a-fA-F_]+|\d[\d_]*(?:\.\d+)?/y;
const WORD = /[\p{L}_$][\p{L}\p{N}_$]*/uy;

/**
 * The pieces of a code block, in order: together they are the text.
 * @param {string} text
 * @param {string} language As it was named.
 * @returns {Piece[]}
 */
export function highlight(text, language) {
  const name = language.toLowerCase();
  if (text === "") return [];
  if (name === "diff" || name === "patch") return diff(text);
  const grammar = GRAMMARS.find((one) => one.names.includes(name));
  return grammar ? joined(pieces(text, grammar)) : [{ kind: "", text }];
}

/**
 * @param {string} text
 * @returns {Piece[]}
 */
function diff(text) {
  const kinds = /** @type {Record<string, Piece["kind"]>} */ ({ "+": "added", "-": "removed" });
  const lines = text.split(/(?<=\n)/);
  return joined(lines.map((line) => ({ kind: kinds[line[0] ?? ""] ?? "", text: line })));
}

/**
 * @param {string} text
 * @param {Grammar} grammar
 * @returns {Generator<Piece>}
 */
function* pieces(text, grammar) {
  const words = new Set((grammar.words ?? "").split(" "));
  const anyCase = grammar.names.includes("sql");
  for (let at = 0; at < text.length; ) {
    const [kind, end] = next(text, at, grammar, (word) => words.has(anyCase ? word.toUpperCase() : word));
    yield { kind, text: text.slice(at, end) };
    at = end;
  }
}

/**
 * What stands here, and where it ends.
 * @param {string} text
 * @param {number} at
 * @param {Grammar} grammar
 * @param {(word: string) => boolean} isOwn
 * @returns {[Piece["kind"], number]}
 */
function next(text, at, grammar, isOwn) {
  for (const begin of grammar.line ?? []) {
    if (text.startsWith(begin, at)) return ["comment", endOf(text, "\n", at)];
  }
  for (const [begin, end] of grammar.block ?? []) {
    if (text.startsWith(begin, at)) return ["comment", endOf(text, end, at + begin.length, end.length)];
  }
  for (const quote of grammar.quotes ?? []) {
    if (text.startsWith(quote, at)) return ["string", stringEnd(text, at + quote.length, quote)];
  }
  const number = match(NUMBER, text, at);
  if (number) return ["number", at + number.length];
  const word = match(WORD, text, at);
  if (word) return [isOwn(word) ? "word" : "", at + word.length];
  return ["", at + 1];
}

/**
 * @param {string} text
 * @param {string} end
 * @param {number} from
 * @param {number} [more] Characters of the end that belong to it.
 */
function endOf(text, end, from, more = 0) {
  const found = text.indexOf(end, from);
  return found === -1 ? text.length : found + more;
}

/**
 * A string of one character's quotes ends with its line, unless it is a template's.
 * @param {string} text
 * @param {number} from
 * @param {string} quote
 */
function stringEnd(text, from, quote) {
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === "\\") at += 1;
    else if (text.startsWith(quote, at)) return at + quote.length;
    else if (text[at] === "\n" && quote.length === 1 && quote !== "`") return at;
  }
  return text.length;
}

/**
 * @param {RegExp} pattern
 * @param {string} text
 * @param {number} at
 */
function match(pattern, text, at) {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

/**
 * Neighbours of one kind as one.
 * @param {Iterable<Piece>} all
 * @returns {Piece[]}
 */
function joined(all) {
  /** @type {Piece[]} */
  const found = [];
  for (const piece of all) {
    const last = found.at(-1);
    if (last?.kind === piece.kind) last.text += piece.text;
    else found.push({ ...piece });
  }
  return found;
}
