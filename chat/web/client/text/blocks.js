// The blocks of a text from top to end: code, quotes, headings, lists, lines. What stands in a line is inline.js's.

import { parseInline } from "./inline.js";
import { addText, Allowance, CHARACTERS, DEPTH } from "./tree.js";

/** @typedef {import("./tree.js").Node} Node */

const FENCE = "```";
const LANGUAGE = /^[A-Za-z0-9_+#.-]{1,32}$/;
const HEADING = /^(#{1,3}) +(?=\S)/;
const SUBTEXT = /^-# +(?=\S)/;
const ITEM = /^( {0,24})(?:([-*])|(\d{1,9})\.) +(?=\S)/;
const INDENT = 2;

/**
 * A message as a tree.
 * @param {string} text
 * @returns {Node[]}
 */
export function parse(text) {
  const allowance = new Allowance();
  const nodes = blocks(text.slice(0, CHARACTERS), allowance, 0);
  addText(nodes, text.slice(CHARACTERS));
  return nodes;
}

/**
 * @param {string} text
 * @param {Allowance} allowance
 * @param {number} depth
 * @returns {Node[]}
 */
function blocks(text, allowance, depth) {
  /** @type {Node[]} */
  const nodes = [];
  let at = 0;
  for (const [start, end, inner] of fenced(text)) {
    lines(nodes, text.slice(at, start), allowance, depth);
    const [language, code] = languageOf(inner);
    if (allowance.take()) nodes.push({ type: "code_block", language, text: code });
    else addText(nodes, text.slice(start, end));
    at = text[end] === "\n" ? end + 1 : end;
  }
  lines(nodes, text.slice(at), allowance, depth);
  return nodes;
}

/**
 * Where code blocks begin and end, and what is in them.
 * @param {string} text
 * @returns {Generator<[number, number, string]>}
 */
function* fenced(text) {
  let start = text.indexOf(FENCE);
  while (start !== -1) {
    const close = text.indexOf(FENCE, start + FENCE.length);
    if (close === -1) return;
    const inner = text.slice(start + FENCE.length, close);
    const end = close + FENCE.length;
    if (inner.trim() !== "") yield [start, end, inner];
    start = text.indexOf(FENCE, inner.trim() === "" ? close : end);
  }
}

/**
 * A first line of one word alone names the language.
 * @param {string} inner
 * @returns {[string, string]}
 */
function languageOf(inner) {
  const line = inner.indexOf("\n");
  const first = line === -1 ? "" : inner.slice(0, line);
  if (LANGUAGE.test(first) && inner.slice(line + 1).trim() !== "") return [first, trimmed(inner.slice(line + 1))];
  return ["", trimmed(inner)];
}

/** @param {string} code */
function trimmed(code) {
  return code.replace(/^\n/, "").replace(/\n$/, "");
}

/**
 * @param {Node[]} nodes
 * @param {string} text
 * @param {Allowance} allowance
 * @param {number} depth
 */
function lines(nodes, text, allowance, depth) {
  if (text === "") return;
  const all = text.split("\n");
  /** @type {string[]} */
  let plain = [];
  const end = () => {
    if (plain.length > 0) nodes.push(...parseInline(plain.join("\n"), allowance, depth));
    plain = [];
  };
  for (let place = 0; place < all.length; ) {
    const read = depth < DEPTH ? block(all, place, allowance, depth) : null;
    if (read === null || !allowance.take()) {
      plain.push(/** @type {string} */ (all[place]));
      place += 1;
      continue;
    }
    // The line break before a block belongs to it.
    end();
    nodes.push(read.node);
    place = read.next;
  }
  end();
}

/**
 * The block that begins at a line; null for a plain line.
 * @param {string[]} all
 * @param {number} place
 * @param {Allowance} allowance
 * @param {number} depth
 * @returns {{node: Node, next: number} | null}
 */
function block(all, place, allowance, depth) {
  const line = /** @type {string} */ (all[place]);
  if (line.startsWith(">>> ") && line.length > 4) {
    const rest = [line.slice(4), ...all.slice(place + 1)].join("\n");
    return { node: { type: "quote", children: blocks(rest, allowance, depth + 1) }, next: all.length };
  }
  if (line.startsWith("> ")) return quote(all, place, allowance, depth);
  const heading = HEADING.exec(line);
  if (heading) {
    const children = parseInline(line.slice(heading[0].length), allowance, depth + 1);
    return { node: { type: "heading", level: /** @type {string} */ (heading[1]).length, children }, next: place + 1 };
  }
  const subtext = SUBTEXT.exec(line);
  if (subtext) {
    const children = parseInline(line.slice(subtext[0].length), allowance, depth + 1);
    return { node: { type: "subtext", children }, next: place + 1 };
  }
  return ITEM.test(line) ? list(all, place, allowance, depth) : null;
}

/**
 * @param {string[]} all
 * @param {number} place
 * @param {Allowance} allowance
 * @param {number} depth
 * @returns {{node: Node, next: number}}
 */
function quote(all, place, allowance, depth) {
  let next = place;
  while (next < all.length && all[next]?.startsWith("> ")) next += 1;
  const inner = all.slice(place, next).map((line) => line.slice(2));
  return { node: { type: "quote", children: blocks(inner.join("\n"), allowance, depth + 1) }, next };
}

/**
 * Items of one kind; what is indented further belongs to the item before it.
 * @param {string[]} all
 * @param {number} place
 * @param {Allowance} allowance
 * @param {number} depth
 * @returns {{node: Node, next: number} | null}
 */
function list(all, place, allowance, depth) {
  const first = item(all[place]);
  if (!first) return null;
  /** @type {Node[][]} */
  const items = [];
  let next = place;
  for (let read = item(all[next]); read; read = item(all[next])) {
    if (read.indent > first.indent + 1 || read.indent < first.indent || read.ordered !== first.ordered) break;
    next += 1;
    /** @type {string[]} */
    const below = [];
    while (next < all.length && indentOf(all[next]) >= first.indent + INDENT && item(all[next])) {
      below.push(/** @type {string} */ (all[next]));
      next += 1;
    }
    const children = parseInline(read.text, allowance, depth + 1);
    if (below.length > 0) lines(children, below.join("\n"), allowance, depth + 1);
    items.push(children);
  }
  return { node: { type: "list", ordered: first.ordered, start: first.start, items }, next };
}

/**
 * @param {string | undefined} line
 * @returns {{indent: number, ordered: boolean, start: number, text: string} | null}
 */
function item(line) {
  const match = line === undefined ? null : ITEM.exec(line);
  if (!match || line === undefined) return null;
  const ordered = match[3] !== undefined;
  return { indent: indentOf(line), ordered, start: Number(match[3] ?? 1), text: line.slice(match[0].length) };
}

/** @param {string | undefined} line */
function indentOf(line) {
  return line === undefined ? -1 : line.length - line.trimStart().length;
}
