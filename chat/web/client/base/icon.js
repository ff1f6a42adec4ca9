// Signs, out of one file that all share (icons.svg). A sign says nothing by itself: what it stands on has a name.

import { h } from "./dom.js";

const SVG = "http://www.w3.org/2000/svg";

/**
 * A sign by its name in icons.svg. One that points forward turns round where writing runs from the right.
 * @param {string} name
 * @param {{forward?: boolean}} [options]
 * @returns {SVGSVGElement}
 */
export function icon(name, { forward = false } = {}) {
  const picture = document.createElementNS(SVG, "svg");
  picture.setAttribute("class", forward ? "icon forward" : "icon");
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
 * @param {{forward?: boolean}} [options]
 */
export function iconButton(sign, label, press = () => {}, options = {}) {
  const attributes = { type: "button", class: "icon-button", "aria-label": label, title: label, click: press };
  return h("button", attributes, icon(sign, options));
}
