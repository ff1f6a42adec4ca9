// The blocks of a text from top to end: code, quotes, headings, lists, lines. What stands in a line is inline.js's. The
// server finds the same blocks (chat/markdown/blocks.py): what stands in one line here does there.

import { parseInline } from "./inline.js";
import { BLANK, closingTicks, isBlank, runLength } from "./scanning.js";
import { addText, Allowance, CHARACTERS, DEPTH } from "./tree.js";

/** @typedef {import("./tree.js").Node} Node */
/**
 * Where code opens; in which line it closes, and where.
 * @typedef {{at: number, inside: number, line: number, close: number, end: number}} Fence
 */

const FENCE = 3;
const LANGUAGE = /^[A-Za-z0-9_+#.-]{1,32}$/;
const HEADING = new RegExp(`^(#{1,3}) +(?=[^${BLANK}])`);
const SUBTEXT = new RegExp(`^-# +(?=[^${BLANK}])`);
const ITEM = new RegExp(`^( {0,24})(?:([-*])|(\\d{1,9})\\.) +(?=[^${BLANK}])`);
const QUOTED = /^>(?: |$)/;
const INDENT = 2;

/**
 * A message as a tree.
 * @param {string} text
 * @returns {Node[]}
 */
export function parse(text) {
  const nodes = new Blocks(text.slice(0, CHARACTERS).split(/\r\n|\r|\n/), new Allowance(), 0).run();
  addText(nodes, text.slice(CHARACTERS));
  return nodes;
}

class Blocks {
  /** @type {Node[]} */
  #nodes = [];
  /** @type {string[]} */
  #plain = [];
  /** From here on the text has no run of this many back ticks or more. */
  #unclosed = Infinity;

  /**
   * @param {string[]} lines What lies in one block; they are used up.
   * @param {Allowance} allowance
   * @param {number} depth
   */
  constructor(lines, allowance, depth) {
    this.lines = lines;
    this.allowance = allowance;
    this.depth = depth;
  }

  run() {
    for (let place = 0; place < this.lines.length; ) {
      const next = this.depth < DEPTH ? this.#block(place) : null;
      place = next ?? this.#line(place);
    }
    this.#end();
    return this.#nodes;
  }

  /** The line break before a block belongs to it. */
  #end() {
    if (this.#plain.length > 0) this.#nodes.push(...parseInline(this.#plain.join("\n"), this.allowance));
    this.#plain = [];
  }

  /** @param {number} place */
  #at(place) {
    return this.lines[place] ?? "";
  }

  /**
   * Take the block that begins at a line; null for a plain line.
   * @param {number} place
   * @returns {number | null} Where the next one begins.
   */
  #block(place) {
    const line = this.#at(place);
    if (line.startsWith(">>> ") && line.length > 4) {
      return this.#group("quote", [line.slice(4), ...this.lines.slice(place + 1)], this.lines.length);
    }
    if (line.startsWith("> ")) {
      let next = place;
      while (next < this.lines.length && QUOTED.test(this.#at(next))) next += 1;
      return this.#group("quote", this.lines.slice(place, next).map((quoted) => quoted.slice(2)), next);
    }
    const heading = HEADING.exec(line);
    if (heading) {
      this.#end();
      const children = parseInline(line.slice(heading[0].length), this.allowance);
      this.#nodes.push({ type: "heading", level: heading[1]?.length ?? 1, children });
      return place + 1;
    }
    const subtext = SUBTEXT.exec(line);
    if (subtext) {
      this.#end();
      this.#nodes.push({ type: "subtext", children: parseInline(line.slice(subtext[0].length), this.allowance) });
      return place + 1;
    }
    return this.#list(place);
  }

  /**
   * @param {"quote"} type
   * @param {string[]} lines
   * @param {number} next
   */
  #group(type, lines, next) {
    this.#end();
    this.#nodes.push({ type, children: this.#below(lines) });
    return next;
  }

  /** @param {string[]} lines */
  #below(lines) {
    return new Blocks(lines, this.allowance, this.depth + 1).run();
  }

  /**
   * Items of one kind; what is indented further belongs to the item before it.
   * @param {number} place
   * @returns {number | null}
   */
  #list(place) {
    const first = item(this.#at(place));
    if (!first) return null;
    this.#end();
    /** @type {Node[][]} */
    const items = [];
    let next = place;
    for (let read = first; ; read = /** @type {NonNullable<ReturnType<typeof item>>} */ (item(this.#at(next)))) {
      const end = this.#endOfItem(next, read.content, first.indent + INDENT);
      const below = this.lines.slice(next + 1, end).map((line) => line.slice(Math.min(indentOf(line), read.content)));
      items.push(this.#below([this.#at(next).slice(read.content), ...below]));
      next = end;
      const another = item(this.#at(next));
      if (!another || another.indent > first.indent + 1 || another.indent < first.indent) break;
      if (another.ordered !== first.ordered) break;
    }
    this.#nodes.push({ type: "list", ordered: first.ordered, start: first.start, items });
    return next;
  }

  /**
   * Where the lines of an item end. A code block that begins in it ends in it, however its lines are indented.
   * @param {number} place Of its first line.
   * @param {number} from Where its words begin there.
   * @param {number} indent How far the others are indented at least.
   */
  #endOfItem(place, from, indent) {
    let [next, column] = [place, from];
    for (;;) {
      for (let found = this.#fence(next, column); found; found = this.#fence(next, column)) {
        [next, column] = [found.line, found.end];
      }
      [next, column] = [next + 1, 0];
      let behind = next;
      while (behind < this.lines.length && isBlank(this.#at(behind))) behind += 1;
      if (behind >= this.lines.length || indentOf(this.#at(behind)) < indent) return next;
      next = behind;
    }
  }

  /**
   * Take a plain line, or what comes before a code block in it, and that.
   * @param {number} place
   */
  #line(place) {
    const line = this.#at(place);
    const found = this.#fence(place, 0);
    if (!found) {
      this.#plain.push(line);
      return place + 1;
    }
    const before = line.slice(0, found.at);
    const isIndented = /^ *$/.test(before);
    if (!isIndented) this.#plain.push(before);
    this.#end();
    this.#nodes.push(codeBlock(this.#inside(place, found), isIndented ? found.at : 0));
    const rest = this.#at(found.line).slice(found.end);
    if (rest === "") return found.line + 1;
    this.lines[found.line] = rest;
    return found.line;
  }

  /**
   * @param {number} place
   * @param {Fence} found
   */
  #inside(place, { inside, line, close }) {
    const first = this.#at(place);
    if (line === place) return [first.slice(inside, close)];
    return [first.slice(inside), ...this.lines.slice(place + 1, line), this.#at(line).slice(0, close)];
  }

  /**
   * The first code block that opens in a line: with three back ticks or more, up to as many. What nothing closes is
   * text, and so is what has nothing in it.
   * @param {number} place
   * @param {number} from
   * @returns {Fence | null}
   */
  #fence(place, from) {
    const line = this.#at(place);
    const unclosed = new Set();
    for (let at = line.indexOf("`", from); at !== -1; ) {
      const ticks = runLength(line, at);
      const inside = at + ticks;
      if (isEscaped(line, at)) {
        at = line.indexOf("`", at + 1);
        continue;
      }
      const span = ticks < FENCE && !unclosed.has(ticks) ? closingTicks(line, inside, ticks) : -1;
      if (span === -1) unclosed.add(ticks);
      if (ticks >= FENCE && ticks < this.#unclosed) {
        const closing = this.#closing(place, inside, ticks);
        if (!closing) this.#unclosed = ticks;
        else if (!this.#inside(place, { at, inside, ...closing }).every(isBlank)) return { at, inside, ...closing };
      }
      at = line.indexOf("`", span === -1 ? inside : span + ticks);
    }
    return null;
  }

  /**
   * @param {number} place
   * @param {number} from
   * @param {number} ticks
   */
  #closing(place, from, ticks) {
    const run = "`".repeat(ticks);
    for (let line = place; line < this.lines.length; line += 1) {
      const close = this.#at(line).indexOf(run, line === place ? from : 0);
      if (close !== -1) return { line, close, end: close + runLength(this.#at(line), close) };
    }
    return null;
  }
}

/**
 * A first line of one word alone names the language.
 * @param {string[]} inside
 * @param {number} indent How far the block is indented; so far its lines are, too.
 * @returns {Node}
 */
function codeBlock([first = "", ...below], indent) {
  const others = below.map((line) => line.slice(Math.min(indentOf(line), indent)));
  const named = first.trim();
  const isNamed = LANGUAGE.test(named) && !others.every(isBlank);
  const lines = isNamed || first === "" ? others : [first, ...others];
  if (lines.length > 1 && /^ *$/.test(lines.at(-1) ?? "")) lines.pop();
  return { type: "code_block", language: isNamed ? named : "", text: lines.join("\n") };
}

/**
 * @param {string} line
 * @param {number} at
 */
function isEscaped(line, at) {
  let before = at;
  while (line[before - 1] === "\\") before -= 1;
  return (at - before) % 2 === 1;
}

/**
 * @param {string} line
 * @returns {{indent: number, content: number, ordered: boolean, start: number} | null}
 */
function item(line) {
  const match = ITEM.exec(line);
  if (!match) return null;
  const ordered = match[3] !== undefined;
  return { indent: indentOf(line), content: match[0].length, ordered, start: Number(match[3] ?? 1) };
}

/** @param {string} line */
function indentOf(line) {
  return line.length - line.replace(/^ +/, "").length;
}
