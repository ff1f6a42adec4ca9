// The buttons of one message. There is one bar for the whole list; it stands over the row under the pointer or the
// focus.

import { h } from "../../base/dom.js";
import { icon } from "../../base/icon.js";
import { t } from "../../words/catalogue.js";

/** By how many pixels it stands above its row. */
const RAISED = 12;

/**
 * @param {HTMLElement} ground what it is placed in
 * @param {HTMLElement} rows the list in it
 * @param {(act: string, article: HTMLElement, button: HTMLElement) => void} act
 */
export function makeToolbar(ground, rows, act) {
  const edit = button("edit", t("message.edit"), icon("edit"));
  const buttons = [
    button("pick", t("message.react"), icon("reaction")),
    button("reply", t("message.reply"), icon("reply")),
    edit,
    button("menu", t("message.more"), icon("more")),
  ];
  const element = h(
    "div",
    { class: "row-tools", role: "toolbar", "aria-label": t("message.actions"), hidden: "" },
    ...buttons,
  );
  /** @type {HTMLElement | null} */
  let article = null;

  element.addEventListener("click", (event) => {
    const pressed = /** @type {Element} */ (event.target).closest("button");
    if (pressed && article) act(pressed.dataset["act"] ?? "", article, pressed);
  });

  /** Over its row's upper end, wherever that is now, within the ground. */
  function place() {
    if (article === null) return;
    const { top, height } = ground.getBoundingClientRect();
    const wanted = Math.min(article.getBoundingClientRect().top - top - RAISED, height - element.offsetHeight);
    element.style.setProperty("inset-block-start", `${Math.max(0, wanted)}px`);
  }

  // At the end of the list rows move without an event of scrolling: below them come files, lines, further rows.
  const observer = new ResizeObserver(place);
  for (const part of [ground, rows]) observer.observe(part);

  return {
    element,
    place,
    /**
     * @param {HTMLElement} row
     * @param {boolean} isMine
     */
    show(row, isMine) {
      article = row;
      edit.hidden = !isMine;
      element.hidden = false;
      place();
    },
    hide() {
      if (element.contains(document.activeElement)) return place();
      element.hidden = true;
      article = null;
    },
    article: () => article,
  };
}

/**
 * @param {string} act
 * @param {string} name
 * @param {SVGSVGElement} sign
 */
function button(act, name, sign) {
  return h("button", { type: "button", class: "icon-button", "data-act": act, "aria-label": name, title: name }, sign);
}
