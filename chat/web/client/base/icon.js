// Signs, out of one file that all share (icons.svg). A sign says nothing by itself: what it stands on has a name.

import { h } from "./dom.js";

const SVG = "http://www.w3.org/2000/svg";

/** What points along the lines of a text, and turns round where writing runs from the right. */
const ALONG = new Set(["back", "chevron-back", "chevron-forward", "forward", "leave", "list", "reply", "send"]);

/**
 * A sign by its name in icons.svg.
 * @param {string} name
 * @returns {SVGSVGElement}
 */
export function icon(name) {
  const picture = document.createElementNS(SVG, "svg");
  picture.setAttribute("class", ALONG.has(name) ? "icon along" : "icon");
  picture.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `${document.body.dataset["client"]}/icons.svg#${name}`);
  picture.append(use);
  return picture;
}

/**
 * A button that is a sign; its name is read out, and seen when it is pointed at.
 * @param {string} sign
 * @param {string} label
 * @param {(event: Event) => void} [press]
 */
export function iconButton(sign, label, press = () => {}) {
  const attributes = { type: "button", class: "icon-button", "aria-label": label, title: label, click: press };
  return h("button", attributes, icon(sign));
}
