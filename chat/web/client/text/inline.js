// What stands in lines: code, links, mentions, emojis, times, and marks, of which emphasis.js makes pairs. One pass.
// The server reads the same (chat/markdown/inline.py): what is a mention here calls, and nothing else.

import { bareEnd, bracketed, destination, leadsSomewhere, parentheses, runsOf } from "./addresses.js";
import { paired } from "./emphasis.js";
import { BLANK, closingTicks, ESCAPE, flanking, runLength } from "./scanning.js";
import { addText } from "./tree.js";

/** @typedef {import("./tree.js").Node} Node */
/** @typedef {import("./tree.js").Allowance} Allowance */
/** @typedef {import("./emphasis.js").Item} Item */

const SPECIAL = /[\\`*_<[\]\n]|~~|\|\||@(?=everyone|here)|[hH](?=[tT]{2}[pP][sS]?:\/\/)/g;
const ESCAPED = new RegExp(ESCAPE, "y");
const MENTION = /<(?:@(!|&)?|(#))([1-9]\d{0,18})>/y;
const EMOJI = /<(a)?:(\w{2,32}):([1-9]\d{0,18})>/y;
const TIME = /<t:(-?\d{1,13})(?::([tTdDfFR]))?>/y;
const ALL = /(?<![\p{L}\p{N}_])@(everyone|here)(?![\p{L}\p{N}_])/uy;
const ONLY_BLANKS = new RegExp(`^[${BLANK}]*$`);

/** The largest id. */
const LARGEST = 2n ** 63n - 1n;

/**
 * @param {string} text
 * @param {Allowance} allowance
 * @returns {Node[]}
 */
export function parseInline(text, allowance) {
  return new Inline(text, allowance).run();
}

class Inline {
  /** @type {Item[]} */
  #items = [];
  /** Where brackets opened among the items that may become links. @type {number[]} */
  #brackets = [];
  /** From here on no run of these lengths is closed. @type {Set<number>} */
  #unclosed = new Set();
  /** How many runs of a mark have opened that none has closed. @type {Record<string, number>} */
  #marks = { "*": 0, _: 0, "~": 0 };
  /** @type {Map<number, number> | undefined} */
  #parentheses;
  #at = 0;
  #runEnd;

  /**
   * @param {string} text
   * @param {Allowance} allowance
   */
  constructor(text, allowance) {
    this.text = text;
    this.#runEnd = runsOf(text);
    this.allowance = allowance;
  }

  run() {
    const special = new RegExp(SPECIAL);
    while (this.#at < this.text.length) {
      special.lastIndex = this.#at;
      const next = special.exec(this.text)?.index ?? this.text.length;
      this.#say(this.text.slice(this.#at, next));
      this.#at = next;
      if (next < this.text.length && !this.#take()) this.#sayOn(1);
    }
    return paired(this.#items, this.allowance);
  }

  /** Take what begins here; false where it is nothing but a character. */
  #take() {
    switch (this.text[this.#at]) {
      case "\\":
        return this.#escaped();
      case "\n":
        return this.#push({ type: "break" }, 1);
      case "`":
        return this.#code();
      case "<":
        return this.#pointed();
      case "@":
        return this.#everyone();
      case "[":
        this.#brackets.push(this.#items.length);
        this.#items.push({ type: "text", text: "[" });
        this.#at += 1;
        return true;
      case "]":
        return this.#named();
      case "|":
        this.#items.push({ type: "bars", at: this.#at });
        this.#at += 2;
        return true;
      case "h":
      case "H":
        return this.#bare();
      default:
        return this.#mark();
    }
  }

  #escaped() {
    const pair = this.#match(ESCAPED);
    if (!pair) return false;
    this.#say(pair[0].slice(1));
    this.#at += 2;
    return true;
  }

  #code() {
    const ticks = runLength(this.text, this.#at);
    const from = this.#at + ticks;
    const close = this.#unclosed.has(ticks) ? -1 : closingTicks(this.text, from, ticks);
    if (close === -1) {
      this.#unclosed.add(ticks);
      return this.#sayOn(ticks);
    }
    const said = this.text.slice(from, close).replaceAll("\n", " ");
    const isPadded = /^ .*[^ ].* $/.test(said);
    return this.#push({ type: "code", text: isPadded ? said.slice(1, -1) : said }, close + ticks - this.#at);
  }

  #pointed() {
    const mention = this.#match(MENTION);
    if (mention && isId(mention[3])) {
      const kind = mention[2] ? "channel" : mention[1] === "&" ? "role" : "user";
      return this.#mention({ type: "mention", kind, id: mention[3] ?? "" }, mention[0].length);
    }
    const emoji = this.#match(EMOJI);
    if (emoji && isId(emoji[3])) {
      const [all, animated, name = "", id = ""] = emoji;
      return this.#push({ type: "emoji", name, id, animated: animated !== undefined }, all.length);
    }
    const time = this.#match(TIME);
    if (time) return this.#push({ type: "time", seconds: Number(time[1]), style: time[2] ?? "f" }, time[0].length);
    const link = bracketed(this.text, this.#at);
    return link !== null && this.#link(link.href, link.end, 1);
  }

  #everyone() {
    const all = this.#match(ALL);
    if (!all) return false;
    return this.#mention({ type: "mention", kind: all[1] === "here" ? "here" : "everyone", id: "" }, all[0].length);
  }

  /** Mentions are shown whatever is left of the allowance: what calls is in sight. */
  #mention(/** @type {Node} */ node, /** @type {number} */ length) {
    this.#items.push(node);
    this.#at += length;
    return true;
  }

  /** What a bracket closes is a link if an address follows; then no bracket before it opens another one around it. */
  #named() {
    const place = this.#brackets.pop();
    if (place === undefined || this.text[this.#at + 1] !== "(") return false;
    const target = destination(this.text, this.#at + 1, (this.#parentheses ??= parentheses(this.text)));
    if (!target) return false;
    const [, ...words] = this.#items.splice(place);
    const children = withoutLinks(paired(words, this.allowance));
    this.#brackets = [];
    const isLink = leadsSomewhere(target.href) && !children.every(isBlankText) && this.allowance.take();
    if (isLink) {
      this.#items.push({ type: "link", href: target.href, children });
      this.#at = target.end;
      return true;
    }
    this.#items.push({ type: "text", text: "[" }, ...children);
    return this.#sayOn(target.end - this.#at);
  }

  #bare() {
    const end = bareEnd(this.text, this.#at, this.#runEnd, (mark) => (this.#marks[mark] ?? 0) > 0);
    return end !== -1 && this.#link(this.text.slice(this.#at, end), end, 0);
  }

  /**
   * An address that is its own name. Where no browser could go there it is text, and nothing in it is anything else.
   * @param {string} href
   * @param {number} end
   * @param {number} around Characters before and behind it.
   */
  #link(href, end, around) {
    if (!leadsSomewhere(href)) return this.#sayOn(end - this.#at);
    const shown = this.text.slice(this.#at + around, end - around);
    return this.#push({ type: "link", href, children: [{ type: "text", text: shown }] }, end - this.#at);
  }

  #mark() {
    const character = /** @type {string} */ (this.text[this.#at]);
    const length = runLength(this.text, this.#at);
    if (character === "~" && length !== 2) return this.#sayOn(length);
    const { opens, closes } = flanking(this.text, this.#at, length);
    const open = this.#marks[character] ?? 0;
    if (closes && open > 0) this.#marks[character] = open - 1;
    else if (opens) this.#marks[character] = open + 1;
    this.#items.push({ type: "mark", character, length, opens, closes });
    this.#at += length;
    return true;
  }

  /** @param {string} text */
  #say(text) {
    if (text !== "") this.#items.push({ type: "text", text });
  }

  /** @param {number} length */
  #sayOn(length) {
    this.#say(this.text.slice(this.#at, this.#at + length));
    this.#at += length;
    return true;
  }

  /**
   * @param {Node} node
   * @param {number} length Of its source.
   */
  #push(node, length) {
    if (!this.allowance.take()) return this.#sayOn(length);
    this.#items.push(node);
    this.#at += length;
    return true;
  }

  /** @param {RegExp} pattern */
  #match(pattern) {
    const sticky = new RegExp(pattern);
    sticky.lastIndex = this.#at;
    return sticky.exec(this.text);
  }
}

/** @param {string | undefined} digits */
function isId(digits) {
  return digits !== undefined && BigInt(digits) <= LARGEST;
}

/** @param {Node} node */
function isBlankText(node) {
  return (node.type === "text" && ONLY_BLANKS.test(node.text)) || node.type === "break";
}

/**
 * The words of a link lead nowhere else.
 * @param {readonly Node[]} nodes
 * @returns {Node[]}
 */
function withoutLinks(nodes) {
  /** @type {Node[]} */
  const bare = [];
  for (const node of nodes) {
    if (node.type === "link") addText(bare, node.children.map((child) => ("text" in child ? child.text : "")).join(""));
    else if (node.type === "text") addText(bare, node.text);
    else if ("children" in node) bare.push({ ...node, children: withoutLinks(node.children) });
    else bare.push(node);
  }
  return bare;
}
