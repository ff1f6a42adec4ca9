// The button to the newest message; it counts what came while the reader was elsewhere.

import { fill, h } from "../../base/dom.js";
import { icon } from "../../base/icon.js";
import { t } from "../../words/catalogue.js";

/** @param {() => void} press */
export function makeNewer(press) {
  const element = h("button", { type: "button", class: "newer", hidden: "" });
  element.addEventListener("click", press);
  let shown = "";
  return {
    element,
    /**
     * @param {boolean} isShown
     * @param {number} count
     */
    show(isShown, count) {
      element.hidden = !isShown;
      const words = count > 0 ? t("list.new", { n: count }) : t("list.to_newest");
      if (words === shown) return;
      shown = words;
      fill(element, h("span", {}, words), icon("arrow-down"));
    },
  };
}
