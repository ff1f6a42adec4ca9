// What a text becomes: a tree of nodes, of which views make elements. Nothing in it is markup.

/** @typedef {{type: "text", text: string}} TextNode */
/**
 * @typedef {{type: "strong" | "emphasis" | "underline" | "strike" | "spoiler" | "quote" | "subtext" | "paragraph",
 *   children: Node[]}} Group
 */
/**
 * @typedef {TextNode | Group
 *   | {type: "heading", level: number, children: Node[]}
 *   | {type: "list", ordered: boolean, start: number, items: Node[][]}
 *   | {type: "code", text: string}
 *   | {type: "code_block", language: string, text: string}
 *   | {type: "link", href: string, children: Node[]}
 *   | {type: "mention", kind: "user" | "role" | "channel" | "everyone" | "here", id: string}
 *   | {type: "emoji", name: string, id: string, animated: boolean}
 *   | {type: "time", seconds: number, style: string}
 *   | {type: "break"}} Node
 */

/** Characters that are parsed; the rest of a longer text stays text. */
export const CHARACTERS = 16_384;

/** How deep groups, quotes and lists lie in each other. */
export const DEPTH = 12;

/** Nodes of one tree besides blocks, spoilers and mentions; behind them all is text. */
export const NODES = 2_000;

/** What is left of the limits while one text is parsed. */
export class Allowance {
  #nodes = NODES;

  /** Take one node; false when there is none left. */
  take() {
    this.#nodes -= 1;
    return this.#nodes >= 0;
  }
}

/**
 * Add a text, joined to one before it.
 * @param {Node[]} nodes
 * @param {string} text
 */
export function addText(nodes, text) {
  const last = nodes.at(-1);
  if (text === "") return;
  if (last?.type === "text") last.text += text;
  else nodes.push({ type: "text", text });
}
