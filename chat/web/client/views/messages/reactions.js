// Reactions under a message: one button each, pressed if it is the reader's own.

import { h } from "../../base/dom.js";
import { icon } from "../../base/icon.js";
import { t } from "../../words/catalogue.js";
import { number } from "../../words/dates.js";
import { emoji } from "./body.js";

/**
 * What the API calls an emoji: the character, or name and id.
 * @param {{id?: string | null, name: string}} one
 */
export function emojiKey(one) {
  return one.id ? `${one.name}:${one.id}` : one.name;
}

/**
 * @param {readonly {emoji: import("wire").Reaction["emoji"], count: number, me: boolean}[]} all
 */
export function reactions(all) {
  const add = h(
    "button",
    { type: "button", class: "reaction add", "data-act": "pick", "aria-label": t("message.react") },
    icon("reaction"),
  );
  return h("div", { class: "reactions", role: "group", "aria-label": t("message.reactions") }, ...all.map(button), add);
}

/** @param {{emoji: import("wire").Reaction["emoji"], count: number, me: boolean}} one */
function button(one) {
  const shown = one.emoji.id
    ? emoji({ name: one.emoji.name, id: one.emoji.id, animated: one.emoji.animated === true })
    : one.emoji.name;
  const count = h("span", { class: "count" }, number(one.count));
  const element = h(
    "button",
    { type: "button", class: "reaction", "data-act": "react", "data-emoji": emojiKey(one.emoji) },
    shown,
    count,
  );
  element.setAttribute("aria-pressed", String(one.me));
  element.setAttribute("aria-label", t("message.reaction", { n: one.count, name: one.emoji.name }));
  return element;
}
