// What stands in lines: marks that come in pairs, code, links, mentions, emojis, times. One pass; where a mark opens is
// remembered, and one that is never closed turns into text again.

import { closings, closingTicks, runLength, withoutTail } from "./scanning.js";
import { addText, DEPTH } from "./tree.js";

/** @typedef {import("./tree.js").Node} Node */
/** @typedef {import("./tree.js").Allowance} Allowance */
/** @typedef {import("./tree.js").Group["type"]} GroupType */
/** @typedef {{mark: string, nodes: Node[]}} Open */

/** @type {Readonly<Record<string, GroupType>>} */
const GROUPS = {
  "**": "strong",
  "*": "emphasis",
  __: "underline",
  _: "emphasis",
  "~~": "strike",
  "||": "spoiler",
};

const SPECIAL = /[\\`*_~|<@[\nh]/g;
const MENTION = /<(?:@(!|&)?|(#))(\d{1,20})>/y;
const EMOJI = /<(a)?:(\w{2,32}):(\d{1,20})>/y;
const TIME = /<t:(-?\d{1,13})(?::([tTdDfFR]))?>/y;
const BRACKETED = /<((?:https?:\/\/|mailto:)[^\s<>]{1,2000})>/y;
const BARE = /https?:\/\/[^\s<]{1,2000}/y;
const TARGET = /\]\(((?:https?:\/\/|mailto:)[^\s()<>]{1,2000})\)/y;
const ALL = /@(everyone|here)\b/y;
const WORD = /[\p{L}\p{N}_]/u;

/**
 * @param {string} text
 * @param {Allowance} allowance
 * @param {number} depth
 * @param {boolean} [links] Whether links are looked for: not in the words of one.
 * @returns {Node[]}
 */
export function parseInline(text, allowance, depth, links = true) {
  return new Inline(text, allowance, depth, links).run();
}

class Inline {
  /** @type {Open[]} */
  #open = [{ mark: "", nodes: [] }];
  /** Runs of so many back ticks are not closed any more from here on. @type {Set<number>} */
  #unclosed = new Set();
  #at = 0;

  /**
   * @param {string} text
   * @param {Allowance} allowance
   * @param {number} depth
   * @param {boolean} links
   */
  constructor(text, allowance, depth, links) {
    this.text = text;
    this.allowance = allowance;
    this.depth = depth;
    this.links = links;
    this.brackets = links ? closings(text) : new Map();
  }

  run() {
    const special = new RegExp(SPECIAL);
    while (this.#at < this.text.length) {
      special.lastIndex = this.#at;
      const next = special.exec(this.text)?.index ?? this.text.length;
      this.#say(this.text.slice(this.#at, next));
      this.#at = next;
      if (next < this.text.length && !this.#take()) {
        this.#say(/** @type {string} */ (this.text[this.#at]));
        this.#at += 1;
      }
    }
    while (this.#open.length > 1) this.#giveUp();
    return this.#nodes;
  }

  get #nodes() {
    return /** @type {Open} */ (this.#open.at(-1)).nodes;
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
        return this.#bracketed();
      case "@":
        return this.#everyone();
      case "[":
        return this.links && this.#named();
      case "h":
        return this.links && this.#bare();
      default:
        return this.#mark();
    }
  }

  #escaped() {
    const next = this.text[this.#at + 1] ?? "";
    if (next === "" || /[\p{L}\p{N}\s]/u.test(next)) return false;
    this.#say(next);
    this.#at += 2;
    return true;
  }

  #code() {
    const ticks = runLength(this.text, this.#at);
    const from = this.#at + ticks;
    const close = this.#unclosed.has(ticks) ? -1 : closingTicks(this.text, from, ticks);
    if (close === -1) {
      this.#unclosed.add(ticks);
      this.#say(this.text.slice(this.#at, from));
      this.#at = from;
      return true;
    }
    return this.#push({ type: "code", text: this.text.slice(from, close) }, close + ticks - this.#at);
  }

  #bracketed() {
    const mention = this.#match(MENTION);
    if (mention) {
      const kind = mention[2] ? "channel" : mention[1] === "&" ? "role" : "user";
      return this.#push({ type: "mention", kind, id: mention[3] ?? "" }, mention[0].length);
    }
    const emoji = this.#match(EMOJI);
    if (emoji) {
      const [all, animated, name = "", id = ""] = emoji;
      return this.#push({ type: "emoji", name, id, animated: animated !== undefined }, all.length);
    }
    const time = this.#match(TIME);
    if (time) return this.#push({ type: "time", seconds: Number(time[1]), style: time[2] ?? "f" }, time[0].length);
    const link = this.links ? this.#match(BRACKETED) : null;
    return link !== null && this.#link(link[1] ?? "", [{ type: "text", text: link[1] ?? "" }], link[0].length);
  }

  #everyone() {
    const all = this.#match(ALL);
    if (!all || this.#follows(WORD)) return false;
    return this.#push({ type: "mention", kind: all[1] === "here" ? "here" : "everyone", id: "" }, all[0].length);
  }

  #named() {
    const close = this.brackets.get(this.#at);
    if (close === undefined || close === this.#at + 1 || this.depth >= DEPTH) return false;
    const target = this.#match(TARGET, close);
    if (!target) return false;
    const words = parseInline(this.text.slice(this.#at + 1, close), this.allowance, this.depth + 1, false);
    return this.#link(target[1] ?? "", words, close + target[0].length - this.#at);
  }

  #bare() {
    const match = this.#follows(WORD) ? null : this.#match(BARE);
    if (!match) return false;
    const href = withoutTail(match[0]);
    return this.#link(href, [{ type: "text", text: href }], href.length);
  }

  /**
   * @param {string} href
   * @param {Node[]} children
   * @param {number} length
   */
  #link(href, children, length) {
    return URL.canParse(href) && this.#push({ type: "link", href, children }, length);
  }

  #mark() {
    const character = /** @type {string} */ (this.text[this.#at]);
    const run = runLength(this.text, this.#at);
    const double = character + character;
    const inner = /** @type {Open} */ (this.#open.at(-1)).mark;
    // Of three in a row the mark that was opened last is closed first; two are the double mark.
    for (const mark of inner === character && run !== 2 ? [character, double] : [double, character]) {
      if (run < mark.length || !(mark in GROUPS)) continue;
      if (this.#close(mark) || this.#begin(mark)) return true;
    }
    return false;
  }

  /** @param {string} mark */
  #close(mark) {
    const place = this.#open.findLastIndex((open) => open.mark === mark);
    const empty = this.#open.length - 1 === place && this.#nodes.length === 0;
    if (place < 1 || empty || !this.#endsHere(mark)) return false;
    if (!this.allowance.take()) return false;
    while (this.#open.length - 1 > place) this.#giveUp();
    const children = /** @type {Open} */ (this.#open.pop()).nodes;
    this.#nodes.push({ type: /** @type {GroupType} */ (GROUPS[mark]), children });
    this.#at += mark.length;
    return true;
  }

  /** @param {string} mark */
  #begin(mark) {
    const next = this.text[this.#at + mark.length] ?? "";
    const isOpen = this.#open.some((open) => open.mark === mark);
    if (isOpen || next === "" || /\s/.test(next) || this.depth + this.#open.length > DEPTH) return false;
    if (mark[0] === "_" && this.#follows(WORD)) return false;
    this.#open.push({ mark, nodes: [] });
    this.#at += mark.length;
    return true;
  }

  /** @param {string} mark */
  #endsHere(mark) {
    if (mark === "||" || mark === "~~") return true;
    const next = this.text[this.#at + mark.length] ?? "";
    const before = this.text[this.#at - 1] ?? "";
    return !/\s/.test(before) && !(mark[0] === "_" && WORD.test(next));
  }

  /** The mark that was opened last is text. */
  #giveUp() {
    const { mark, nodes } = /** @type {Open} */ (this.#open.pop());
    addText(this.#nodes, mark);
    for (const node of nodes) {
      if (node.type === "text") addText(this.#nodes, node.text);
      else this.#nodes.push(node);
    }
  }

  /** @param {string} text */
  #say(text) {
    addText(this.#nodes, text);
  }

  /**
   * @param {Node} node
   * @param {number} length Of its source.
   */
  #push(node, length) {
    if (this.allowance.take()) this.#nodes.push(node);
    else this.#say(this.text.slice(this.#at, this.#at + length));
    this.#at += length;
    return true;
  }

  /**
   * @param {RegExp} pattern
   * @param {number} [at]
   */
  #match(pattern, at = this.#at) {
    const sticky = new RegExp(pattern);
    sticky.lastIndex = at;
    return sticky.exec(this.text);
  }

  /** @param {RegExp} pattern */
  #follows(pattern) {
    return this.#at > 0 && pattern.test(this.text[this.#at - 1] ?? "");
  }
}
