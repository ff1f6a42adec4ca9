// What lies above the views: dialogs, popovers, menus, short notices. Escape closes the top one, and the focus goes
// back to where it was.

import { fill, h } from "../../base/dom.js";
import { icon } from "../../base/icon.js";
import { t } from "../../words/catalogue.js";
import { hostOf, makeMenu } from "./menu.js";

/** @typedef {{label: string, kind?: "primary" | "danger" | "plain", run: () => unknown}} Action */
/**
 * @typedef {object} DialogParts
 * @property {string} title
 * @property {HTMLElement} content
 * @property {Action[]} [actions] A rejection is shown in the dialog, which stays open.
 * @property {() => void} [onClose]
 * @property {boolean} [wide]
 */
/** @typedef {ReturnType<typeof makeLayers>} Layers */

const TEXTS = new Set(["text", "url", "email", "number"]);
const NOTICE_MS = 6000;
const MARGIN = 8;

/** @param {(error: unknown) => string} wordsOf */
export function makeLayers(wordsOf) {
  const notices = h("div", { class: "notices", role: "status" });
  document.body.append(notices);

  /**
   * @param {DialogParts} parts
   * @returns {() => void} closes it
   */
  function dialog({ title, content, actions = [], onClose = () => {}, wide = false }) {
    const heading = h("h2", { tabindex: "-1" }, title);
    const problem = h("p", { class: "errors", role: "alert", hidden: "" });
    const form = h("form", { method: "dialog" }, heading, problem, content);
    const element = h("dialog", wide ? { class: "wide" } : {}, form);
    const before = document.activeElement;
    heading.id = `dialog-${++number}`;
    element.setAttribute("aria-labelledby", heading.id);

    /** @param {Action} action */
    async function act(action) {
      if (form.ariaBusy === "true") return;
      form.ariaBusy = "true";
      problem.hidden = true;
      try {
        if ((await action.run()) !== false) element.close();
      } catch (error) {
        problem.hidden = false;
        fill(problem, wordsOf(error));
      }
      form.ariaBusy = "false";
    }

    const main = actions.find((action) => action.kind !== "plain");
    const isWritten = writing(form);

    /** What somebody has written here is not thrown away by a key or a press beside it. */
    function leave() {
      if (form.ariaBusy === "true") return;
      if (actions.length === 0 || !isWritten()) return element.close();
      dialog({
        title: t("layers.discard_title"),
        content: h("p", { class: "muted" }, t("layers.discard_words")),
        actions: [{ label: t("settings.discard"), kind: "danger", run: () => element.close() }],
      });
    }

    form.append(buttonsOf(actions, main, act, leave));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (main) void act(main);
    });
    element.addEventListener("close", () => {
      element.remove();
      const back = standingFor(before);
      back?.focus();
      // Chromium has no caret in a field that has had the focus back before what lay above it was removed.
      if (back instanceof HTMLTextAreaElement) back.setSelectionRange(back.selectionStart, back.selectionEnd);
      onClose();
    });
    // A press on the veil leaves it, as Escape does.
    element.addEventListener("pointerdown", (event) => event.target === element && leave());
    element.addEventListener("cancel", (event) => event.target === element && (event.preventDefault(), leave()));
    element.addEventListener("keydown", (event) => {
      // A second Escape would close it whatever is asked.
      if (event.key === "Escape" && !event.isComposing && isWritten()) (event.preventDefault(), leave());
    });
    document.body.append(element);
    element.showModal();
    const first = /** @type {HTMLElement | null} */ (
      form.querySelector("[data-first], input:not([type=hidden]), textarea")
    );
    (first ?? heading).focus();
    return () => element.close();
  }

  /**
   * @param {Element} anchor
   * @param {HTMLElement} content
   * @param {{label: string, onClose?: () => void, side?: "below" | "beside"}} options
   * @returns {() => void} closes it
   */
  function popover(anchor, content, { label, onClose = () => {}, side = "below" }) {
    const element = h("div", { class: "popover", popover: "auto", role: "dialog", "aria-label": label }, content);
    const before = document.activeElement;
    const spot = anchor.getBoundingClientRect();
    // What is fetched comes later, and may reach out of the window.
    const growth = new ResizeObserver(() => {
      if (element.getBoundingClientRect().bottom > innerHeight) placeAt(element, spot, side);
    });
    hostOf(anchor).append(element);
    element.addEventListener("toggle", (event) => {
      if (/** @type {ToggleEvent} */ (event).newState === "open") return;
      growth.disconnect();
      const hadFocus = element.contains(document.activeElement) || document.activeElement === document.body;
      element.remove();
      anchor.removeAttribute("aria-expanded");
      if (hadFocus && before instanceof HTMLElement && before.isConnected) before.focus();
      onClose();
    });
    element.showPopover();
    if (anchor instanceof HTMLButtonElement) anchor.setAttribute("aria-expanded", "true");
    placeAt(element, spot, side);
    growth.observe(element);
    const first = /** @type {HTMLElement | null} */ (element.querySelector("[data-first]"));
    first?.focus();
    return () => element.isConnected && element.hidePopover();
  }

  /**
   * A line that goes by itself; the same words stand there once.
   * @param {string} words
   * @param {{action?: {label: string, run: () => void}}} [options]
   */
  function toast(words, { action } = {}) {
    const notice = h("div", { class: "notice" }, h("p", {}, words));
    const close = () => notice.remove();
    if (action) {
      const press = () => (close(), action.run());
      notice.append(h("button", { type: "button", class: "button plain", click: press }, action.label));
    }
    const label = t("layers.close");
    notice.append(
      h("button", { type: "button", class: "icon-button", "aria-label": label, click: close }, icon("close")),
    );
    [...notices.children].find((one) => one.querySelector("p")?.textContent === words)?.remove();
    notices.append(notice);
    setTimeout(close, NOTICE_MS);
  }

  return { dialog, popover, menu: makeMenu(placeAt), toast };
}

let number = 0;

/**
 * What had the focus before, or what was drawn in its place meanwhile.
 * @param {Element | null} before
 * @returns {HTMLElement | null}
 */
function standingFor(before) {
  if (!(before instanceof HTMLElement) || before.isConnected) return before instanceof HTMLElement ? before : null;
  const key = before.dataset["key"];
  return key ? document.querySelector(`button[data-key="${CSS.escape(key)}"]`) : null;
}

/**
 * Whether fields have text now that somebody has written into them; what is searched for and what is secret is no loss.
 * @param {HTMLFormElement} form
 */
function writing(form) {
  /** @type {Map<HTMLInputElement | HTMLTextAreaElement, string>} what stood there before */
  const before = new Map();
  form.addEventListener("beforeinput", ({ target }) => {
    const isInput = target instanceof HTMLInputElement && TEXTS.has(target.type);
    if ((isInput || target instanceof HTMLTextAreaElement) && !before.has(target)) before.set(target, target.value);
  });
  return () => [...before].some(([{ value, isConnected }, old]) => isConnected && value.trim() !== "" && value !== old);
}

/**
 * @param {Action[]} actions
 * @param {Action | undefined} main
 * @param {(action: Action) => Promise<void>} act
 * @param {() => void} close
 */
function buttonsOf(actions, main, act, close) {
  const away = actions.length > 0 ? t("layers.cancel") : t("layers.close");
  const cancel = h("button", { type: "button", class: "button", click: close }, away);
  const buttons = actions.map((action) =>
    action === main
      ? h("button", { type: "submit", class: `button ${action.kind ?? "primary"}` }, action.label)
      : h("button", { type: "button", class: "button", click: () => void act(action) }, action.label),
  );
  return h("div", { class: "buttons" }, cancel, ...buttons);
}

/**
 * Beside what it belongs to, within the window; on a narrow one it is a sheet at the lower edge, by its style.
 * @param {HTMLElement} element
 * @param {{left: number, right: number, top: number, bottom: number}} spot
 * @param {"below" | "beside"} side
 */
function placeAt(element, spot, side) {
  const { width, height } = element.getBoundingClientRect();
  const isRightToLeft = getComputedStyle(document.documentElement).direction === "rtl";
  const start = isRightToLeft ? spot.right - width : spot.left;
  const [after, before] = [spot.right + MARGIN, spot.left - MARGIN - width];
  const [fitsAfter, fitsBefore] = [after + width <= innerWidth, before >= 0];
  const isAfter = isRightToLeft ? !fitsBefore && fitsAfter : fitsAfter || !fitsBefore;
  const beside = isAfter ? after : before;
  const x = side === "beside" ? beside : start;
  const below = spot.bottom + 4;
  const y = side === "beside" ? spot.top : below + height <= innerHeight ? below : spot.top - 4 - height;
  const left = within(x, width, innerWidth);
  element.style.setProperty("--x", `${isRightToLeft ? innerWidth - left - width : left}px`);
  element.style.setProperty("--y", `${within(y, height, innerHeight)}px`);
}

/**
 * @param {number} start
 * @param {number} size
 * @param {number} room
 */
function within(start, size, room) {
  return Math.max(MARGIN, Math.min(start, room - size - MARGIN));
}
