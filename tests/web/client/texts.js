// What a tree of text says, as a test compares it: its letters in order, and how large it is.

import { parse } from "../../../chat/web/client/text/blocks.js";

export function parsed(text) {
  return parse(text);
}

export function spoken(text) {
  return parse(text).map(said).join("");
}

export function size(text) {
  let nodes = 0;
  let deepest = 0;
  const walk = (children, depth) => {
    deepest = Math.max(deepest, depth);
    for (const node of children) {
      nodes += 1;
      for (const below of [node.children ?? [], ...(node.items ?? [])]) if (below.length > 0) walk(below, depth + 1);
    }
  };
  walk(parse(text), 1);
  return { nodes, deepest };
}

export function addresses(text) {
  const found = [];
  const walk = (node) => {
    if (node.type === "link") found.push(node.href);
    for (const child of [...(node.children ?? []), ...(node.items ?? []).flat()]) walk(child);
  };
  parse(text).forEach(walk);
  return found;
}

function said(node) {
  switch (node.type) {
    case "text":
    case "code":
      return node.text;
    case "code_block":
      return node.language + node.text;
    case "break":
      return "\n";
    case "mention":
      return ["everyone", "here"].includes(node.kind) ? node.kind : "";
    case "emoji":
      return (node.animated ? "a" : "") + node.name;
    case "time":
      return "";
    case "list":
      return node.items.flat().map(said).join("");
    case "link": {
      const words = node.children.map(said).join("");
      return words === node.href ? words : words + node.href;
    }
    default:
      return node.children.map(said).join("");
  }
}
