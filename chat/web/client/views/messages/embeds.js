// What links lead to and what programs put beside a message.

import { fileAddress } from "../../base/address.js";
import { h } from "../../base/dom.js";
import { large, pictureOf, show } from "../../base/renditions.js";
import { parse } from "../../text/blocks.js";
import { t } from "../../words/catalogue.js";
import { full } from "../../words/dates.js";
import { drawn, link } from "./body.js";
import { fitted, frame } from "./media.js";

/** @typedef {import("../names/people.js").Place} Place */

/** The room for a picture that does not tell its size. */
const UNKNOWN = { width: 400, height: 225 };

const WEB = /^https?:\/\//i;

/**
 * @param {readonly import("wire").Embed[]} embeds
 * @param {Place} place
 */
export function embedsOf(embeds, place) {
  return h("div", { class: "embeds" }, ...embeds.map((embed) => one(embed, place)));
}

/**
 * Whether a message is nothing but the address of a picture, which stands below it.
 * @param {{content: string, embeds?: readonly import("wire").Embed[], edited_timestamp: string | null}} message
 */
export function isPictureAlone({ content, embeds, edited_timestamp: edited }) {
  const [embed] = embeds ?? [];
  return embeds?.length === 1 && embed?.type === "image" && embed.url === content && edited === null;
}

/**
 * @param {import("wire").Embed} embed
 * @param {Place} place
 */
function one(embed, place) {
  const picture = embed.type === "image" || embed.type === "gifv" ? (embed.image ?? embed.thumbnail) : undefined;
  if (picture && !embed.title && !embed.description) return shown(picture, embed.url);
  const card = h("div", { class: "embed" }, ...texts(embed, place), ...pictures(embed));
  if (typeof embed.color === "number") {
    card.style.setProperty("--embed", `#${embed.color.toString(16).padStart(6, "0")}`);
  }
  return card;
}

/**
 * @param {import("wire").Embed} embed
 * @param {Place} place
 */
function texts(embed, place) {
  const parts = [];
  if (embed.provider?.name) parts.push(h("p", { class: "meta" }, embed.provider.name));
  if (embed.author?.name) parts.push(h("p", { class: "embed-author" }, ...linked(embed.author.name, embed.author.url)));
  if (embed.title) parts.push(h("p", { class: "embed-title" }, ...linked(embed.title, embed.url)));
  if (embed.description) {
    parts.push(h("div", { class: "text", dir: "auto" }, ...drawn(parse(embed.description), place)));
  }
  if (embed.fields?.length)
    parts.push(
      h("dl", { class: "embed-fields" }, ...embed.fields.map((field) => pair(field, place))),
    );
  const foot = [embed.footer?.text, embed.timestamp ? full(Date.parse(embed.timestamp)) : null].filter(
    (part) => !!part,
  );
  if (foot.length > 0) parts.push(h("p", { class: "meta" }, foot.join(" \u00b7 ")));
  return parts;
}

/**
 * @param {{name: string, value: string, inline: boolean}} field
 * @param {Place} place
 */
function pair(field, place) {
  const className = field.inline ? "inline" : "";
  return h(
    "div",
    { class: className },
    h("dt", {}, ...drawn(parse(field.name), place)),
    h("dd", {}, ...drawn(parse(field.value), place)),
  );
}

/**
 * @param {string} text
 * @param {string | undefined} address
 * @returns {(Node | string)[]}
 */
function linked(text, address) {
  return address && WEB.test(address) ? [link(address, [document.createTextNode(text)])] : [text];
}

/** @param {import("wire").Embed} embed */
function pictures(embed) {
  const { width = 0, height = 0 } = embed.video ?? {};
  if (embed.video?.url && width > 0 && String(embed.video.content_type ?? "").startsWith("video/")) {
    const film = h("video", { controls: "", preload: "none", "aria-label": embed.title ?? t("message.film") });
    film.setAttribute("src", fileAddress(embed.video.proxy_url ?? embed.video.url));
    if (embed.thumbnail) film.setAttribute("poster", large(pictureOf({ ...embed.thumbnail, flags: 0 })));
    return [frame(width, height, film)];
  }
  if (embed.audio?.url) {
    const sound = h("audio", { controls: "", preload: "none", "aria-label": embed.title ?? embed.url ?? "" });
    sound.setAttribute("src", fileAddress(embed.audio.proxy_url ?? embed.audio.url));
    return [h("div", { class: "sound" }, sound)];
  }
  return [embed.image, embed.thumbnail]
    .filter((one) => !!one)
    .slice(0, 1)
    .map((one) => shown(one, embed.url));
}

/**
 * @param {import("wire").EmbedMedia} picture
 * @param {string | undefined} address
 */
export function shown(picture, address) {
  const image = h("img", { alt: picture.description ?? "", loading: "lazy", decoding: "async" });
  const content = address && WEB.test(address) ? link(address, [image]) : image;
  if (content !== image) content.setAttribute("aria-label", picture.description || t("message.opens_link"));
  const [width, height] = [picture.width || UNKNOWN.width, picture.height || UNKNOWN.height];
  const framed = frame(width, height, content);
  show(image, pictureOf(picture), fitted(width, height), () => framed.remove());
  return framed;
}
