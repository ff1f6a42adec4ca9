// A menu at a button, or where it was asked for: arrows, Home, End and letters move, Enter does, Escape leaves.

import { h } from "../../base/dom.js";
import { icon } from "../../base/icon.js";

/**
 * @typedef {object} Entry
 * @property {string} label
 * @property {string} [icon]
 * @property {"danger"} [kind]
 * @property {boolean} [checked] Of several that exclude one another.
 * @property {() => void} run
 */
/** @typedef {Element | {x: number, y: number}} Anchor */

/**
 * @param {(element: HTMLElement, spot: DOMRect, side: "below") => void} placeAt
 * @returns {(anchor: Anchor, entries: (Entry | null)[], label?: string) => void} null stands for a line
 */
export function makeMenu(placeAt) {
  let isPressed = false;
  const presses = (/** @type {PointerEvent} */ event) => (isPressed = event.pointerType === "mouse");
  document.addEventListener("pointerdown", presses, true);
  for (const end of ["pointerup", "pointercancel"]) document.addEventListener(end, () => (isPressed = false), true);

  /** @type {(anchor: Anchor, entries: (Entry | null)[], label?: string) => void} */
  const open = (anchor, entries, label = "") => {
    // A menu is asked for while the button of the mouse goes down; its going up, outside, would close it (Firefox).
    if (isPressed) {
      document.addEventListener("pointerup", () => setTimeout(() => open(anchor, entries, label)), { once: true });
      return;
    }
    const element = h("div", { class: "menu", popover: "auto", role: "menu", "aria-label": label });
    const before = document.activeElement;
    const close = () => element.isConnected && element.hidePopover();
    for (const entry of trimmed(entries)) element.append(entry === null ? line() : item(entry, close));
    hostOf(anchor).append(element);
    element.addEventListener("keydown", (event) => moved(event, element, close));
    element.addEventListener("toggle", (event) => {
      if (/** @type {ToggleEvent} */ (event).newState === "open") return;
      const hadFocus = element.contains(document.activeElement) || document.activeElement === document.body;
      element.remove();
      if (anchor instanceof Element) anchor.removeAttribute("aria-expanded");
      if (hadFocus && before instanceof HTMLElement && before.isConnected) before.focus();
    });
    element.showPopover();
    if (anchor instanceof HTMLButtonElement) anchor.setAttribute("aria-expanded", "true");
    const spot = anchor instanceof Element ? anchor.getBoundingClientRect() : new DOMRect(anchor.x, anchor.y, 0, 0);
    placeAt(element, spot, "below");
    /** @type {HTMLElement | null} */ (element.firstElementChild)?.focus();
  };
  return open;
}

/**
 * The part of the page that a layer belongs to: readers that go by parts find it there, and what lies above a dialog is
 * within it.
 * @param {Anchor} anchor
 * @returns {Element}
 */
export function hostOf(anchor) {
  const from = anchor instanceof Element ? anchor : document.elementFromPoint(anchor.x, anchor.y);
  const host = from?.closest("dialog, .popover, main, nav, aside, section[aria-label]");
  // What was pressed may be gone by the time that its layer has come.
  return host?.isConnected ? host : document.body;
}

/**
 * Without lines at the ends and twice.
 * @param {(Entry | null)[]} entries
 */
function trimmed(entries) {
  const kept = entries.filter((entry, at) => entry !== null || (at > 0 && entries[at - 1] !== null));
  if (kept[0] === null) kept.shift();
  if (kept.at(-1) === null) kept.pop();
  return kept;
}

function line() {
  return h("div", { role: "separator" });
}

/**
 * @param {Entry} entry
 * @param {() => void} close
 */
function item({ label, icon: sign, kind, checked, run }, close) {
  const press = () => (close(), run());
  const role = checked === undefined ? "menuitem" : "menuitemradio";
  const element = h("button", { type: "button", role, tabindex: "-1", class: kind ?? "", click: press });
  if (checked !== undefined) element.setAttribute("aria-checked", String(checked));
  if (sign) element.append(icon(sign));
  element.append(h("bdi", {}, label));
  if (checked) element.append(icon("check"));
  return element;
}

/**
 * @param {KeyboardEvent} event
 * @param {HTMLElement} menu
 * @param {() => void} close
 */
function moved(event, menu, close) {
  const items = /** @type {HTMLElement[]} */ ([...menu.querySelectorAll('[role^="menuitem"]')]);
  const at = items.indexOf(/** @type {HTMLElement} */ (document.activeElement));
  const next = nextOf(event.key, items, at);
  if (event.key === "Tab") close();
  if (next === undefined) return;
  event.preventDefault();
  next.focus();
}

/**
 * @param {string} key
 * @param {HTMLElement[]} items
 * @param {number} at
 */
function nextOf(key, items, at) {
  if (key === "ArrowDown") return items[(at + 1) % items.length];
  if (key === "ArrowUp") return items.at(at - 1);
  if (key === "Home") return items[0];
  if (key === "End") return items.at(-1);
  if (key.length !== 1 || key === " ") return undefined;
  const letter = key.toLowerCase();
  const after = [...items.slice(at + 1), ...items.slice(0, at + 1)];
  return after.find((one) => one.textContent?.toLowerCase().startsWith(letter));
}
