// The button to the newest message; it counts what came while the reader was elsewhere.

import { fill, h } from "../../base/dom.js";
import { icon } from "../../base/icon.js";
import { t } from "../../words/catalogue.js";
import { countAfter } from "./items.js";

/**
 * @param {() => void} press
 * @param {string} myId
 */
export function makeNewer(press, myId) {
  const element = h("button", { type: "button", class: "newer", hidden: "" });
  element.addEventListener("click", press);
  let shown = "";
  /** @type {string | null} the newest message that was in sight */
  let newest = null;
  return {
    element,
    /**
     * @param {import("../../store/shapes.js").Log} log
     * @param {boolean} isAtEnd whether the newest message is in sight
     * @param {boolean} isFar whether the way to it is long
     */
    show(log, isAtEnd, isFar) {
      if (isAtEnd) newest = log.ids.at(-1) ?? null;
      const count = countAfter(log, newest, myId);
      element.hidden = isAtEnd || !(count > 0 || isFar);
      const words = count > 0 ? t("list.new", { n: count }) : t("list.to_newest");
      if (words === shown) return;
      shown = words;
      fill(element, h("span", {}, words), icon("arrow-down"));
    },
  };
}
