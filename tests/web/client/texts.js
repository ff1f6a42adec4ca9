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

// Of many texts: whom each names, and where its links lead, with those in spoilers marked.
export function told(texts) {
  return texts.map((text) => {
    const mentions = [];
    const links = [];
    let spoilers = 0;
    const walk = (nodes, hidden) => {
      for (const node of nodes) {
        if (node.type === "mention") mentions.push(`${node.kind}${node.id}`);
        if (node.type === "emoji") mentions.push(`emoji${node.name}:${node.id}`);
        if (node.type === "link") links.push([node.href, hidden]);
        if (node.type === "spoiler") spoilers += 1;
        const isHidden = hidden || node.type === "spoiler";
        for (const below of [node.children ?? [], ...(node.items ?? [])]) walk(below, isHidden);
      }
    };
    walk(parse(text), false);
    return { mentions, links, spoilers };
  });
}

const TAGS = {
  strong: "strong",
  emphasis: "em",
  underline: "u",
  strike: "s",
  spoiler: "del",
  quote: "blockquote",
  subtext: "small",
};

const escaped = (text) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

// Of many texts: as HTML, in the way in which CommonMark's examples tell trees.
export function html(texts) {
  return texts.map((text) => parse(text).map(element).join(""));
}

function element(node) {
  const inside = (nodes) => nodes.map(element).join("");
  switch (node.type) {
    case "text":
      return escaped(node.text);
    case "break":
      return "\n";
    case "code":
      return `<code>${escaped(node.text)}</code>`;
    case "code_block": {
      const language = node.language === "" ? "" : ` class="language-${node.language}"`;
      return `<pre><code${language}>${escaped(node.text)}</code></pre>`;
    }
    case "heading":
      return `<h${node.level}>${inside(node.children)}</h${node.level}>`;
    case "list": {
      const start = node.start === 1 ? "" : ` start="${node.start}"`;
      const items = node.items.map((item) => `<li>${inside(item)}</li>`).join("");
      return node.ordered ? `<ol${start}>${items}</ol>` : `<ul>${items}</ul>`;
    }
    case "link":
      return `<a href="${escaped(node.href)}">${inside(node.children)}</a>`;
    case "mention":
      return `<b>${node.kind}${node.id}</b>`;
    case "emoji":
      return `<i>${node.name}</i>`;
    case "time":
      return `<time>${node.seconds}${node.style}</time>`;
    default:
      return `<${TAGS[node.type]}>${inside(node.children)}</${TAGS[node.type]}>`;
  }
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

/**
 * For each piece, repeated, as many times longer as a text of eight times the length takes: the least of several rounds
 * of each, in one run.
 */
export function growths(pieces, length) {
  const least = (said) => {
    let best = Infinity;
    for (let round = 0; round < 8; round += 1) {
      const before = performance.now();
      parse(said);
      best = Math.min(best, performance.now() - before);
    }
    return best;
  };
  return pieces.map((piece) => {
    const long = piece.repeat(8 * length).slice(0, 8 * length);
    return least(long) / Math.max(0.02, least(long.slice(0, length)));
  });
}
