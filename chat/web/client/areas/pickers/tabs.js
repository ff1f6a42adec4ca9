// Two or more things to pick from, one shown at a time: tabs above their panels.

import { fill, h } from "../../base/dom.js";

/** @typedef {{label: string, make: () => HTMLElement}} Tab `make` is called when it is shown for the first time. */

let number = 0;

/**
 * @param {string} label
 * @param {readonly Tab[]} tabs The first is shown.
 */
export function makeTabs(label, tabs) {
  const list = h("div", { role: "tablist", class: "tabs picker-tabs", "aria-label": label });
  const panel = h("div", { role: "tabpanel", class: "picker-panel" });
  panel.id = `picker-panel-${(number += 1)}`;
  /** @type {Map<Tab, HTMLElement>} */
  const made = new Map();
  const buttons = tabs.map((tab) => {
    const one = h("button", { type: "button", role: "tab", class: "tab", click: () => show(tab) }, tab.label);
    one.setAttribute("aria-controls", panel.id);
    return one;
  });
  list.append(...buttons);
  list.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowRight" && event.key !== "ArrowLeft") return;
    event.preventDefault();
    const isForward = (event.key === "ArrowRight") !== (getComputedStyle(list).direction === "rtl");
    const at = buttons.findIndex((one) => one.tabIndex === 0) + (isForward ? 1 : -1);
    const next = tabs.at(at % tabs.length);
    if (next) show(next);
    buttons.find((one) => one.tabIndex === 0)?.focus();
  });

  /** @param {Tab} tab */
  function show(tab) {
    for (const [at, one] of buttons.entries()) {
      const isIt = tabs[at] === tab;
      one.setAttribute("aria-selected", String(isIt));
      one.tabIndex = isIt ? 0 : -1;
    }
    const content = made.get(tab) ?? tab.make();
    made.set(tab, content);
    panel.setAttribute("aria-label", tab.label);
    fill(panel, content);
  }

  if (tabs[0]) show(tabs[0]);
  return h("div", { class: "picker" }, list, panel);
}
