// Files of a message: pictures, films and sound with their room reserved, so that nothing moves when they arrive.

import { fileAddress } from "../../base/address.js";
import { showMoving } from "../../base/appearance.js";
import { h } from "../../base/dom.js";
import { icon } from "../../base/icon.js";
import { pictureOf, show } from "../../base/renditions.js";
import { t } from "../../words/catalogue.js";
import { number } from "../../words/dates.js";

const SPOILER = 8;
const WIDEST = 520;
const TALLEST = 350;

/**
 * The size at which something of that size is shown.
 * @param {number} width
 * @param {number} height
 */
export function fitted(width, height) {
  const scale = Math.min(1, WIDEST / width, TALLEST / height);
  return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
}

/**
 * A frame of a fixed shape: as wide as there is room, never higher than it says.
 * @param {number} width
 * @param {number} height
 * @param {HTMLElement} content
 */
export function frame(width, height, content) {
  const size = fitted(width, height);
  const element = h("div", { class: "frame" }, content);
  element.style.setProperty("inline-size", `${size.width}px`);
  element.style.setProperty("aspect-ratio", `${size.width} / ${size.height}`);
  return element;
}

/**
 * @param {readonly import("wire").Attachment[]} attachments
 * @returns {HTMLElement}
 */
export function media(attachments) {
  return h("div", { class: "media" }, ...attachments.map((one) => attachment(one)));
}

/** @param {import("wire").Attachment} file */
export function attachment(file) {
  const shown = file.url === null ? gone(file) : known(file);
  return (file.flags & SPOILER) === 0 ? shown : covered(shown);
}

/** Hidden until asked for. @param {HTMLElement} shown */
export function covered(shown) {
  const cover = h("button", { type: "button", class: "cover", "data-act": "uncover" }, t("message.spoiler"));
  shown.setAttribute("inert", "");
  return h("div", { class: "covered" }, shown, cover);
}

/** @param {import("wire").Attachment} file */
function known(file) {
  const kind = String(file.content_type).split("/")[0];
  const { width = 0, height = 0 } = file;
  const hasSize = width > 0 && height > 0;
  if (kind === "image" && hasSize) return picture(file);
  if (kind === "video") return frame(hasSize ? width : 640, hasSize ? height : 360, player("video", file));
  if (kind === "audio")
    return h("div", { class: "sound" }, h("p", { class: "small clip" }, file.filename), player("audio", file));
  return download(file);
}

/** @param {import("wire").Attachment} file */
function picture(file) {
  const image = h("img", { alt: file.description ?? "", loading: "lazy", decoding: "async" });
  const name = file.description || t("message.picture", { name: file.title || file.filename });
  const { width = 0, height = 0 } = file;
  const framed = frame(
    width,
    height,
    h(
      "button",
      { type: "button", class: "picture", "data-act": "view", "data-file": file.id, "aria-label": name },
      image,
    ),
  );
  show(image, pictureOf(file), fitted(width, height), () =>
    framed.replaceWith(download(file)),
  );
  return framed;
}

/**
 * @param {"video" | "audio"} tag
 * @param {import("wire").Attachment} file
 */
function player(tag, file) {
  const element = h(tag, { controls: "", preload: "metadata", "aria-label": file.description || file.filename });
  element.setAttribute("src", fileAddress(file.url ?? ""));
  return element;
}

/** A file as one to be saved, which is what came. @param {import("wire").Attachment} file */
export function download(file) {
  const link = h(
    "a",
    { href: fileAddress(file.url ?? ""), download: file.filename, rel: "noopener noreferrer", class: "clip" },
    file.filename,
  );
  return h(
    "div",
    { class: "file card" },
    icon("file"),
    h("div", {}, link, h("p", { class: "meta" }, bytes(file.size))),
  );
}

/** @param {import("wire").Attachment} file */
function gone(file) {
  const words = t("message.file_gone");
  return h(
    "div",
    { class: "file card" },
    icon("file"),
    h("div", {}, h("p", { class: "clip" }, file.filename), h("p", { class: "meta" }, words)),
  );
}

/** @param {import("wire").Message["stickers"] | undefined} stickers */
export function stickers(stickers) {
  if (!stickers?.length) return null;
  const pictures = stickers.map((one) => {
    const picture = h("img", { class: "sticker", alt: one.name, width: "160", height: "160", loading: "lazy" });
    const address = `/media/stickers/${one.id}.webp?size=320`;
    if (one.animated) showMoving(picture, `${address}&animated=true`, address);
    else picture.setAttribute("src", address);
    return picture;
  });
  return h("div", { class: "stickers" }, ...pictures);
}

/**
 * A size in words: 12 KB, 3.4 MB.
 * @param {number} size
 */
export function bytes(size) {
  if (size < 1000) return t("message.bytes", { n: size });
  if (size < 1_000_000) return t("message.kilobytes", { n: number(Math.max(1, Math.round(size / 1000))) });
  return t("message.megabytes", { n: number(Math.round(size / 100_000) / 10) });
}
