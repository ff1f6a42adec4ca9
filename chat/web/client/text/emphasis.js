// Marks that come in pairs: which of them belong together. Spoilers first, each up to the next mark of its kind, so
// that nothing shows what one hides; in each piece the others, as CommonMark pairs them (Phase 2: inline structure).

import { addText, DEPTH } from "./tree.js";

/** @typedef {import("./tree.js").Node} Node */
/** @typedef {import("./tree.js").Allowance} Allowance */
/** @typedef {import("./tree.js").Group["type"]} GroupType */
/** @typedef {{opens: GroupType[], closes: number, left: number, order: number}} Pairing */
/**
 * @typedef {{type: "mark", character: string, length: number, opens: boolean, closes: boolean}} Mark
 * @typedef {{type: "bars", at: number}} Bars
 * @typedef {Node | Mark | Bars} Item
 */

/** @type {Readonly<Record<string, [GroupType | undefined, GroupType]>>} By the length of the mark. */
const GROUPS = {
  "*": ["emphasis", "strong"],
  _: ["emphasis", "underline"],
  "~": [undefined, "strike"],
};

/**
 * What the items of a line become.
 * @param {readonly Item[]} items
 * @param {Allowance} allowance
 * @returns {Node[]}
 */
export function paired(items, allowance) {
  /** @type {Node[]} */
  const nodes = [];
  /** @type {(Node | Mark)[]} */
  let piece = [];
  /** @type {Bars | null} */
  let open = null;
  /** @type {(Node | Mark)[]} */
  let before = [];
  for (const item of items) {
    if (item.type !== "bars") {
      piece.push(item);
    } else if (open === null) {
      [open, before, piece] = [item, piece, []];
    } else if (item.at === open.at + 2) {
      before.push({ type: "text", text: "||||" });
      [piece, open] = [before, null];
    } else {
      join(nodes, emphasized(before, allowance));
      nodes.push({ type: "spoiler", children: emphasized(piece, allowance) });
      [piece, open] = [[], null];
    }
  }
  if (open !== null) piece = [...before, { type: "text", text: "||" }, ...piece];
  return join(nodes, emphasized(piece, allowance));
}

/**
 * @param {readonly (Node | Mark)[]} items
 * @param {Allowance} allowance
 * @returns {Node[]}
 */
function emphasized(items, allowance) {
  const pairs = pairing(items);
  /** @type {{type: GroupType | null, mark: string, nodes: Node[]}[]} */
  const open = [{ type: null, mark: "", nodes: [] }];
  const say = (/** @type {string} */ text) => addText(/** @type {{nodes: Node[]}} */ (open.at(-1)).nodes, text);
  const end = () => {
    const { type, mark, nodes } = /** @type {typeof open[number]} */ (open.pop());
    const above = /** @type {{nodes: Node[]}} */ (open.at(-1)).nodes;
    if (type !== null) above.push({ type, children: nodes });
    else {
      addText(above, mark);
      join(above, nodes);
      addText(above, mark);
    }
  };
  for (const item of items) {
    const pair = item.type === "mark" ? pairs.get(item) : undefined;
    if (item.type !== "mark" || pair === undefined) {
      join(/** @type {{nodes: Node[]}} */ (open.at(-1)).nodes, [/** @type {Node} */ (item)]);
      continue;
    }
    for (let count = 0; count < pair.closes; count += 1) end();
    say(item.character.repeat(pair.left));
    for (const type of pair.opens.toReversed()) {
      const mark = item.character.repeat(type === "emphasis" ? 1 : 2);
      open.push({ type: open.length <= DEPTH && allowance.take() ? type : null, mark, nodes: [] });
    }
  }
  return /** @type {{nodes: Node[]}} */ (open[0]).nodes;
}

/**
 * What each mark opens, the innermost first, and how much it closes; in time that grows with their number.
 * @param {readonly (Node | Mark)[]} items
 * @returns {Map<Mark, Pairing>}
 */
function pairing(items) {
  /** @type {Map<Mark, Pairing>} */
  const pairs = new Map();
  /** @type {Mark[]} */
  const openers = [];
  // Below this mark there is none for a closing one of a kind.
  /** @type {Map<string, number>} */
  const bottoms = new Map();
  const of = (/** @type {Mark} */ mark) => /** @type {Pairing} */ (pairs.get(mark));
  for (const mark of items) {
    if (mark.type !== "mark") continue;
    const own = { opens: [], closes: 0, left: mark.length, order: pairs.size };
    pairs.set(mark, own);
    const kind = `${mark.character}${mark.opens}${mark.length % 3}`;
    while (mark.closes && own.left > 0) {
      let place = openers.length - 1;
      const bottom = bottoms.get(kind) ?? -1;
      const isAbove = () => place >= 0 && of(/** @type {Mark} */ (openers[place])).order > bottom;
      while (isAbove() && !belong(/** @type {Mark} */ (openers[place]), mark)) place -= 1;
      if (!isAbove()) {
        bottoms.set(kind, own.order - 1);
        break;
      }
      const opener = of(/** @type {Mark} */ (openers[place]));
      const length = opener.left >= 2 && own.left >= 2 ? 2 : 1;
      opener.opens.push(/** @type {GroupType} */ (GROUPS[mark.character]?.[length - 1]));
      opener.left -= length;
      own.left -= length;
      own.closes += 1;
      openers.length = opener.left > 0 ? place + 1 : place;
    }
    if (mark.opens && own.left > 0) openers.push(mark);
  }
  return pairs;
}

/**
 * @param {Mark} opener
 * @param {Mark} closer
 */
function belong(opener, closer) {
  if (opener.character !== closer.character) return false;
  const sum = opener.length + closer.length;
  const isOneOfThree = sum % 3 === 0 && (opener.length % 3 !== 0 || closer.length % 3 !== 0);
  return !((opener.closes || closer.opens) && isOneOfThree);
}

/**
 * @param {Node[]} nodes
 * @param {readonly Node[]} more
 */
function join(nodes, more) {
  for (const node of more) {
    if (node.type === "text") addText(nodes, node.text);
    else nodes.push(node);
  }
  return nodes;
}
