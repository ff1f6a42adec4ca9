// What somebody says about what they are doing: an emoji, some words, or both.

import { h } from "../../base/dom.js";
import { plainName } from "./people.js";

/**
 * @param {import("wire").CustomStatus | null} custom A custom status.
 * @returns {(HTMLElement | string)[]} nothing where there is none
 */
export function customStatus(custom) {
  const { text, emoji_id: id, emoji_name: name } = custom ?? {};
  /** @type {(HTMLElement | string)[]} */
  const parts = [];
  if (id) {
    const picture = h("img", { class: "emoji", alt: name ?? "", loading: "lazy", width: "16", height: "16" });
    picture.src = `/media/emojis/${id}.webp?size=48`;
    parts.push(picture);
  } else if (name) parts.push(name);
  if (text) parts.push(...(parts.length > 0 ? [" "] : []), h("bdi", {}, plainName(text)));
  return parts;
}
