// The text that is written: a text area with the names of people, roles, channels and emoji in it (`names.js`), as high
// as its text. What a program writes goes the way of what a person types, so that undo takes it back.

import { fill, h } from "../../base/dom.js";
import { makeNames } from "./names.js";

/** @typedef {ReturnType<typeof makeField>} Field */

/**
 * @param {object} parts
 * @param {string} parts.label
 * @param {string} parts.placeholder
 * @param {(source: string) => readonly string[]} parts.formsOf how something can be shown that is sent as this
 */
export function makeField({ label, placeholder, formsOf }) {
  const names = makeNames();
  const area = /** @type {HTMLTextAreaElement} */ (
    h("textarea", { rows: "1", dir: "auto", class: "composer-field", placeholder, "aria-label": label })
  );
  const ground = h("div", { class: "composer-ground", dir: "auto", "aria-hidden": "true" });
  const element = h("div", { class: "composer-text" }, ground, area);

  /** As high as its text, up to a part of the screen that the style sheet says. */
  function draw() {
    area.style.setProperty("block-size", "auto");
    area.style.setProperty("block-size", `${area.scrollHeight}px`);
    const parts = names.parts(area.value);
    const hasNames = parts.some(({ isName }) => isName);
    if (!hasNames && ground.childNodes.length === 0) return;
    // A bar to scroll by takes room from the text.
    ground.style.setProperty("inline-size", `${area.clientWidth}px`);
    const shown = parts.map(({ text, isName }) => (isName ? h("mark", { class: "composer-named" }, text) : text));
    fill(ground, ...(hasNames ? shown : []));
    follow();
  }

  function follow() {
    ground.scrollTop = area.scrollTop;
  }

  /**
   * Puts a text in place of a part, with the caret behind it.
   * @param {number} start
   * @param {number} end
   * @param {string} text
   */
  function write(start, end, text) {
    area.focus();
    area.setSelectionRange(start, end);
    if (text === "" && start === end) return;
    if (document.execCommand(text === "" ? "delete" : "insertText", false, text)) return;
    area.setRangeText(text, start, end, "end");
    area.dispatchEvent(new Event("input", { bubbles: true }));
  }

  /** How a text is shown in place of the selection. @param {string} text As it is sent. */
  function shownHere(text) {
    const { value, selectionStart, selectionEnd } = area;
    return names.read(text, formsOf, value.slice(0, selectionStart), value.slice(selectionEnd));
  }

  /** Text that came from elsewhere, in place of the selection. @param {string} text As it is sent. */
  function insert(text) {
    write(area.selectionStart, area.selectionEnd, shownHere(text));
  }

  area.addEventListener("scroll", follow, { passive: true });
  area.addEventListener("paste", (event) => {
    const text = event.clipboardData?.getData("text/plain") ?? "";
    const shown = shownHere(text);
    if (shown === text || event.clipboardData?.files.length) return;
    event.preventDefault();
    write(area.selectionStart, area.selectionEnd, shown);
  });
  const watcher = new ResizeObserver(draw);
  watcher.observe(element);

  return {
    element,
    area,
    draw,
    write,
    insert,
    /** The text as it is sent. */
    text: () => names.sent(area.value),
    /** Another text, as it is sent. @param {string} text */
    put(text) {
      names.clear();
      area.value = names.read(text, formsOf);
      draw();
    },
    /**
     * Something in place of a word that ends at the caret, and a gap behind it, where there is none.
     * @param {number} start
     * @param {string} source as it is sent
     * @param {string} gap
     */
    name(start, source, gap) {
      const end = area.selectionStart;
      const [before, after] = [area.value.slice(0, start), area.value.slice(end)];
      const isThere = gap !== "" && after.startsWith(gap);
      const shown = names.read(source, formsOf, before, isThere ? after : gap + after) + (isThere ? "" : gap);
      if (shown === area.value.slice(start, end)) return draw();
      write(start, end, shown);
      if (isThere) area.setSelectionRange(area.selectionStart + gap.length, area.selectionStart + gap.length);
    },
    stop: () => watcher.disconnect(),
  };
}
