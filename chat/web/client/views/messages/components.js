// What an application puts below a message, or in place of its text: buttons, menus, texts, pictures. Text from
// outside only ever becomes text nodes here, too.

import { h } from "../../base/dom.js";
import { pictureOf, show } from "../../base/renditions.js";
import { t } from "../../words/catalogue.js";
import { body, emoji, link } from "./body.js";
import { shown } from "./embeds.js";
import { attachment, bytes, covered, frame } from "./media.js";
import { chosenNames } from "../names/choices.js";
import { plainName } from "../names/people.js";

/** @typedef {import("wire").Component} Component */
/** @typedef {import("../names/people.js").Place} Place */
/**
 * @typedef {object} Ground
 * @property {Place} place
 * @property {string} messageId
 * @property {readonly import("wire").Attachment[]} files Of the message.
 * @property {import("../../store/shapes.js").Used | null} used What waits for the application.
 * @property {boolean} isCopy Nothing can be used.
 */

const LINK = 5;
/** @type {Readonly<Record<number, string>>} */
const BUTTONS = { 1: "button primary", 3: "button success", 4: "button danger" };
const THUMBNAIL = { width: 80, height: 80 };

/** @type {Readonly<Record<number, (one: Component, ground: Ground) => HTMLElement | null>>} */
const KINDS = {
  1: (one, ground) => h("div", { class: "component-row" }, ...all(one.components, ground)),
  2: button,
  3: menu,
  5: menu,
  6: menu,
  7: menu,
  8: menu,
  9: section,
  10: (one, { place }) => body(one.content ?? "", place),
  11: thumbnail,
  12: gallery,
  13: file,
  14: separator,
  17: box,
};

/**
 * @param {readonly Component[]} components
 * @param {Ground} ground
 */
export function componentsOf(components, ground) {
  const element = h("div", { class: "components" }, ...all(components, ground));
  if (ground.used?.state === "silent") element.append(h("p", { class: "fate small" }, t("components.silent")));
  return element;
}

/**
 * A component by which the application knows it, wherever in the tree it stands.
 * @param {readonly Component[]} components
 * @param {string} customId
 * @returns {Component | undefined}
 */
export function componentBy(components, customId) {
  for (const one of components) {
    const held = [...(one.components ?? []), ...(one.accessory ? [one.accessory] : [])];
    const found = one.custom_id === customId ? one : componentBy(held, customId);
    if (found) return found;
  }
  return undefined;
}

/**
 * @param {readonly Component[] | undefined} components
 * @param {Ground} ground
 */
function all(components, ground) {
  return (components ?? []).map((one) => KINDS[one.type]?.(one, ground) ?? null);
}

/**
 * What is pressed and known to the application; the focus finds it again after a change by its key.
 * @param {Component} one
 * @param {Ground} ground
 * @param {string} act
 * @param {string} style
 * @param {(Node | string)[]} words
 */
function control(one, { messageId, used, isCopy }, act, style, words) {
  const customId = one.custom_id ?? "";
  const isWaiting = used?.state === "waiting" && used.customId === customId;
  return h(
    "button",
    {
      type: "button",
      class: style,
      "data-act": act,
      "data-custom": customId,
      "data-key": `component:${messageId}:${customId}`,
      "aria-busy": isWaiting ? "true" : null,
      disabled: one.disabled === true || isCopy,
    },
    ...words,
  );
}

/** @type {(one: Component, ground: Ground) => HTMLElement} */
function button(one, ground) {
  const label = one.label ? [h("span", { class: "component-label" }, plainName(one.label))] : [];
  const words = [...sign(one.emoji), ...label];
  if (one.style !== LINK) return control(one, ground, "use", BUTTONS[one.style ?? 2] ?? "button", words);
  const leads = link(one.url ?? "", words);
  leads.classList.add("button");
  return one.disabled || ground.isCopy ? h("span", { class: "button", "aria-disabled": "true" }, ...words) : leads;
}

/** @param {Component["emoji"]} one */
export function sign(one) {
  if (!one?.name) return [];
  if (!one.id) return [h("span", { class: "component-sign" }, one.name)];
  return [emoji({ name: one.name, id: one.id, animated: one.animated === true })];
}

/** @type {(one: Component, ground: Ground) => HTMLElement} */
function menu(one, ground) {
  const chosen = chosenNames(ground.place, one).join(", ");
  const words = chosen || (one.placeholder ? plainName(one.placeholder) : t("components.choose"));
  const element = control(one, ground, "choose", "component-menu", [h("bdi", { class: "clip" }, words)]);
  element.setAttribute("aria-haspopup", "dialog");
  return element;
}

/** @type {(one: Component, ground: Ground) => HTMLElement} */
function section(one, ground) {
  const texts = h("div", { class: "component-texts" }, ...all(one.components, ground));
  return h("div", { class: "component-section" }, texts, ...(one.accessory ? all([one.accessory], ground) : []));
}

/**
 * The attachment that a medium is.
 * @param {Component["media"]} medium
 * @param {Ground} ground
 */
function fileOf(medium, { files }) {
  return files.find(({ id }) => id === medium?.attachment_id);
}

/** @type {(one: Component, ground: Ground) => HTMLElement | null} */
function thumbnail({ media: medium, description, spoiler }) {
  if (!medium) return null;
  const image = h("img", { alt: description ?? "", loading: "lazy", decoding: "async" });
  const framed = frame(THUMBNAIL.width, THUMBNAIL.height, image);
  show(image, pictureOf(medium), THUMBNAIL, () => framed.remove());
  return spoiler ? covered(framed) : framed;
}

/** @type {(one: Component, ground: Ground) => HTMLElement} */
function gallery(one, ground) {
  const shownOnes = (one.items ?? []).map(({ media: medium, description, spoiler }) => {
    const own = fileOf(medium, ground);
    const item = own
      ? attachment({ ...own, description: description ?? own.description })
      : shown({ ...medium, ...(description && { description }) }, medium.url);
    return spoiler ? covered(item) : item;
  });
  return h("div", { class: "media" }, ...shownOnes);
}

/** @type {(one: Component, ground: Ground) => HTMLElement} */
function file(one, ground) {
  const own = fileOf(one.file, ground);
  const words = [h("p", { class: "clip" }, plainName(one.name ?? one.file?.url ?? ""))];
  if (one.size !== undefined) words.push(h("p", { class: "meta" }, bytes(one.size)));
  const item = own ? attachment(own) : h("div", { class: "file card" }, h("div", {}, ...words));
  return one.spoiler ? covered(item) : item;
}

/** @type {(one: Component, ground: Ground) => HTMLElement} */
function separator({ divider, spacing }) {
  const room = spacing === 2 ? "component-gap wide" : "component-gap";
  return divider === false ? h("div", { class: room }) : h("hr", { class: room });
}

/** @type {(one: Component, ground: Ground) => HTMLElement} */
function box(one, ground) {
  const element = h("div", { class: "embed component-box" }, ...all(one.components, ground));
  if (typeof one.accent_color === "number") {
    element.style.setProperty("--embed", `#${one.accent_color.toString(16).padStart(6, "0")}`);
  }
  return one.spoiler ? covered(element) : element;
}
