// The tree of a message's text as nodes of the page. Text from outside only ever becomes text nodes.

import { showMoving } from "../../base/appearance.js";
import { pathWithin } from "../../base/address.js";
import { h } from "../../base/dom.js";
import { parse } from "../../text/blocks.js";
import { highlight } from "../../text/highlight.js";
import { t, tn } from "../../words/catalogue.js";
import { full } from "../../words/dates.js";
import { nameOfChannel } from "../names/channels.js";
import { mentioned, momentOf } from "../names/quoted.js";

/** @typedef {import("../../text/tree.js").Node} Tree */
/** @typedef {import("../names/people.js").Place} Place */

const EMOJI_ONLY = new RegExp("^(?:\\p{RGI_Emoji}|\\s)*$", "v");
const JUMBO = 12;

/**
 * @param {string} content
 * @param {Place} place
 * @returns {HTMLElement}
 */
export function body(content, place) {
  const tree = parse(content);
  const text = h("div", { class: isEmojiOnly(tree) ? "text jumbo" : "text", dir: "auto" });
  text.append(...drawn(tree, place));
  return text;
}

/**
 * A message of a few emoji and nothing else is shown large.
 * @param {readonly Tree[]} tree
 */
function isEmojiOnly(tree) {
  const only = tree.length === 1 ? tree[0] : undefined;
  const nodes = only?.type === "paragraph" ? only.children : tree;
  if (nodes.length === 0 || nodes.length > JUMBO) return false;
  return nodes.every((node) => node.type === "emoji" || (node.type === "text" && isFewEmoji(node.text)));
}

/** @param {string} text */
function isFewEmoji(text) {
  return text.length <= JUMBO * 8 && EMOJI_ONLY.test(text);
}

/**
 * @param {readonly Tree[]} tree
 * @param {Place} place
 * @returns {Node[]}
 */
export function drawn(tree, place) {
  return tree.map((node) => one(node, place));
}

/** @type {Record<string, keyof HTMLElementTagNameMap>} */
const TAGS = {
  strong: "strong",
  emphasis: "em",
  underline: "u",
  strike: "s",
  quote: "blockquote",
  subtext: "small",
  paragraph: "p",
};

/**
 * @param {Tree} node
 * @param {Place} place
 * @returns {Node}
 */
function one(node, place) {
  switch (node.type) {
    case "text":
      return document.createTextNode(node.text);
    case "break":
      return document.createElement("br");
    case "heading":
      // Headings of a message are none of the page: its outline stays its own.
      return h("p", { class: `heading level-${node.level}` }, ...drawn(node.children, place));
    case "list":
      return list(node, place);
    case "code":
      return h("code", {}, node.text);
    case "code_block":
      return codeBlock(node);
    case "spoiler":
      return spoiler(drawn(node.children, place));
    case "link":
      return link(node.href, isBare(node) ? placeName(node.href, place) : drawn(node.children, place));
    case "mention":
      return mention(node, place);
    case "emoji":
      return emoji(node);
    case "time":
      return time(node);
    default:
      return h(TAGS[node.type] ?? "span", {}, ...drawn(node.children, place));
  }
}

/**
 * @param {Extract<Tree, {type: "list"}>} node
 * @param {Place} place
 */
function list(node, place) {
  const items = node.items.map((item) => h("li", {}, ...drawn(item, place)));
  const element = h(node.ordered ? "ol" : "ul", {}, ...items);
  if (node.ordered && node.start !== 1) element.setAttribute("start", String(node.start));
  return element;
}

/** @param {Extract<Tree, {type: "code_block"}>} node */
function codeBlock(node) {
  const pieces = highlight(node.text, node.language).map(({ kind, text }) =>
    kind === "" ? text : h("span", { class: `code-${kind}` }, text),
  );
  // It may be wider than the page: with a tab stop it can be scrolled by keys.
  return h(
    "pre",
    { dir: "ltr", tabindex: "0", "aria-label": t("message.code"), role: "group" },
    h("code", {}, ...pieces),
  );
}

/**
 * Hidden until asked for, from a screen reader as well.
 * @param {Node[]} children
 */
export function spoiler(children) {
  const cover = h("span", { class: "spoiler-text", "aria-hidden": "true", inert: "" }, ...children);
  return h(
    "span",
    { class: "spoiler", role: "button", tabindex: "0", "data-act": "reveal", "aria-label": t("message.spoiler") },
    cover,
  );
}

/**
 * Shows what a spoiler hides, for good.
 * @param {HTMLElement} element
 */
export function reveal(element) {
  for (const name of ["role", "tabindex", "data-act", "aria-label"]) element.removeAttribute(name);
  element.classList.add("revealed");
  for (const name of ["aria-hidden", "inert"]) element.firstElementChild?.removeAttribute(name);
}

/**
 * An address that stands for itself.
 * @param {Extract<Tree, {type: "link"}>} node
 */
function isBare({ href, children }) {
  const [only] = children;
  return children.length === 1 && only?.type === "text" && only.text === href;
}

/**
 * What an address leads to, where that is a channel of this instance that the reader sees; else the address.
 * @param {string} href
 * @param {Place} place
 * @returns {Node[]}
 */
function placeName(href, { store }) {
  const [root, , channelId = "", messageId] = (pathWithin(href) ?? "").split("/").slice(1);
  const channel = root === "channels" ? store.read.channels.get(channelId) : undefined;
  if (!channel) return [document.createTextNode(href)];
  const name = `${channel.guild_id ? "#" : ""}${nameOfChannel(store.read, channel)}`;
  return messageId ? tn("message.place", { name }) : [document.createTextNode(name)];
}

/**
 * A place of this instance opens in this page, which listens for it (shell/inside.js).
 * @param {string} href
 * @param {Node[]} children
 */
export function link(href, children) {
  const inside = pathWithin(href);
  if (inside !== null) return h("a", { href: inside, "data-inside": "" }, ...children);
  const address = { href, target: "_blank", rel: "noopener noreferrer", "data-act": "link" };
  return h("a", address, ...children);
}

/**
 * @param {Extract<Tree, {type: "mention"}>} node
 * @param {Place} place
 */
function mention(node, place) {
  const name = mentioned(node, place);
  const channel = node.kind === "channel" ? place.store.read.channels.get(node.id) : undefined;
  if (channel) {
    const address = `/channels/${channel.guild_id ?? "@me"}/${channel.id}`;
    return h("a", { class: "mention", href: address, "data-act": "channel", "data-channel": channel.id }, name);
  }
  if (node.kind !== "user") return h("span", { class: "mention" }, name);
  return h("button", { type: "button", class: "mention", "data-act": "profile", "data-user": node.id }, name);
}

/** @param {{name: string, id: string, animated: boolean}} node */
export function emoji(node) {
  const name = `:${node.name}:`;
  const picture = h("img", { class: "emoji", alt: name, title: name, loading: "lazy", decoding: "async" });
  const address = `/media/emojis/${node.id}.webp?size=96`;
  if (node.animated) showMoving(picture, `${address}&animated=true`, address);
  else picture.setAttribute("src", address);
  return picture;
}

/** @param {Extract<Tree, {type: "time"}>} node */
function time(node) {
  const at = node.seconds * 1000;
  const words = momentOf(node);
  if (!Number.isFinite(new Date(at).getTime())) return document.createTextNode(words);
  return h("time", { datetime: new Date(at).toISOString(), title: full(at) }, words);
}
