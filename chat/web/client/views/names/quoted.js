// A message's text in words, for where it is quoted: in one line, without signs, and what is hidden stays hidden.

import { parse } from "../../text/blocks.js";
import { t } from "../../words/catalogue.js";
import { clock, dayLine, full, relative } from "../../words/dates.js";
import { nameOf, plainName } from "./people.js";

/** @typedef {import("../../text/tree.js").Node} Tree */
/** @typedef {import("./people.js").Place} Place */
/** @typedef {import("wire").Message} Message */

const HIDDEN = "\u2588\u2588\u2588";
const INLINE = new Set(["strong", "emphasis", "underline", "strike", "link"]);

/**
 * @param {string} content
 * @param {Place} place
 */
export function quoted(content, place) {
  /** @param {readonly Tree[]} tree @returns {string} */
  const said = (tree) =>
    tree
      .map((node) => {
        switch (node.type) {
          case "text":
          case "code":
          case "code_block":
            return node.text;
          case "spoiler":
            return HIDDEN;
          case "emoji":
            return `:${node.name}:`;
          case "mention":
            return mentioned(node, place);
          case "time":
            return momentOf(node);
          case "list":
            return ` ${node.items.map(said).join(" ")} `;
          case "break":
            return " ";
          default:
            return INLINE.has(node.type) ? said(node.children) : ` ${said(node.children)} `;
        }
      })
      .join("");
  return said(parse(content)).replace(/\s+/g, " ").trim();
}

/**
 * The text of a message, what its poll asks, or the texts of its components.
 * @param {Pick<Message, "content" | "poll"> & {components?: readonly import("wire").Component[]}} message
 * @returns {string}
 */
export function saidIn({ content, components = [], poll }) {
  const said = (/** @type {import("wire").Component} */ one) =>
    one.content ?? saidIn({ content: "", components: one.components ?? [] });
  return content || poll?.question.text || components.map(said).filter(Boolean).join("\n");
}

/**
 * Whom or what a mention names, as it is called here.
 * @param {Extract<Tree, {type: "mention"}>} node
 * @param {Place} place
 * @returns {string}
 */
export function mentioned(node, place) {
  const { read } = place.store;
  if (node.kind === "channel") {
    const channel = read.channels.get(node.id);
    return channel?.name ? `#${plainName(channel.name)}` : t("message.unknown_channel");
  }
  if (node.kind === "role") {
    const guild = place.guildId === null ? undefined : read.guilds.get(place.guildId);
    return `@${plainName(guild?.roles.get(node.id)?.name ?? t("message.unknown_role"))}`;
  }
  if (node.kind !== "user") return `@${node.kind}`;
  const user = read.users.get(node.id);
  return `@${user ? nameOf(place, user) : t("message.unknown_person")}`;
}

/** @param {Extract<Tree, {type: "time"}>} node */
export function momentOf({ seconds, style }) {
  const at = seconds * 1000;
  if (!Number.isFinite(new Date(at).getTime())) return `<t:${seconds}>`;
  if (style === "R") return relative(at, Date.now());
  if ("tT".includes(style)) return clock(at);
  return "dD".includes(style) ? dayLine(at) : full(at);
}
