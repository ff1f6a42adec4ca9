// The commands of the one bot (`bot_steps.py`), as libraries for Node take them.

const required = { description: "d", required: true };

export const OPTIONS = { text: 3, number: 4, yes: 5, who: 6, where: 7, role: 8, whom: 9, part: 10, file: 11 };
/** Those of `everything`, with their types. */

const leaf = { type: 1, name: "leaf", description: "d", options: [{ type: 3, name: "name", ...required }] };
const plain = ["secret", "slow", "more", "change", "gone", "board", "menus", "layout", "ask"];

export const commands = [
  {
    name: "everything",
    description: "Every kind of option.",
    options: Object.entries(OPTIONS).map(([name, type]) => ({ type, name, ...required })),
  },
  { name: "tree", description: "d", options: [{ type: 2, name: "branch", description: "d", options: [leaf] }] },
  {
    name: "find",
    description: "Completes itself.",
    options: [{ type: 3, name: "word", autocomplete: true, ...required }],
  },
  ...plain.map((name) => ({ name, description: "d" })),
  { type: 2, name: "Look at" },
  { type: 3, name: "Keep it" },
].map((command) => ({ type: 1, ...command }));

export const PICTURE = "https://example.com/a.png";
