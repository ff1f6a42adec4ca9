// Marks around what is selected: by keys, and by a small bar that stands above the field while something is selected.

import { h } from "../../base/dom.js";
import { icon } from "../../base/icon.js";
import { t } from "../../words/catalogue.js";

/** @typedef {"bold" | "italic" | "struck" | "code" | "spoiler" | "quote"} Form */

const MARKS = { bold: "**", italic: "_", struck: "~~", code: "`", spoiler: "||" };
const QUOTE = "> ";

/** @type {readonly {form: Form, code?: string, shift?: boolean, needsSelection?: boolean}[]} */
const KEYS = [
  { form: "bold", code: "KeyB" },
  { form: "italic", code: "KeyI" },
  { form: "struck", code: "KeyX", shift: true },
  { form: "code", code: "KeyE", needsSelection: true }, // without one it is the key of the emoji
];

/**
 * The text with a form put on the selection, or taken from it: what stands in place of which part, and what is selected
 * then.
 * @param {string} text
 * @param {number} start
 * @param {number} end
 * @param {Form} form
 * @returns {{from: number, to: number, text: string, start: number, end: number}}
 */
export function formatted(text, start, end, form) {
  if (form === "quote") return quoted(text, start, end);
  const mark = MARKS[form];
  const size = mark.length;
  const chosen = text.slice(start, end);
  const lead = chosen.length - chosen.trimStart().length;
  const [from, to] = chosen.trim() === "" ? [start, end] : [start + lead, start + chosen.trimEnd().length];
  const inner = text.slice(from, to);
  if (inner.length >= size * 2 && inner.startsWith(mark) && inner.endsWith(mark)) {
    const bare = inner.slice(size, -size);
    // With a space inside it is no mark, and what was taken off would be put on elsewhere.
    if (bare === bare.trim() || bare.trim() === "")
      return { from, to, text: bare, start: from, end: from + bare.length };
  }
  if (text.slice(0, from).endsWith(mark) && text.slice(to).startsWith(mark))
    return { from: from - size, to: to + size, text: inner, start: from - size, end: to - size };
  return { from, to, text: mark + inner + mark, start: from + size, end: to + size };
}

/**
 * Quotes are whole lines.
 * @param {string} text
 * @param {number} start
 * @param {number} end
 */
function quoted(text, start, end) {
  const from = text.lastIndexOf("\n", start - 1) + 1;
  const next = text.indexOf("\n", end);
  const to = next === -1 ? text.length : next;
  const lines = text.slice(from, to).split("\n");
  const isQuoted = lines.every((line) => line.startsWith(QUOTE));
  const done = lines.map((line) => (isQuoted ? line.slice(QUOTE.length) : QUOTE + line)).join("\n");
  return { from, to, text: done, start: from, end: from + done.length };
}

/** @param {import("./field.js").Field} field */
export function makeFormatting({ area, write }) {
  const control = /Mac|iPhone|iPad/.test(navigator.userAgent) ? "Cmd" : "Ctrl";
  const element = h("div", { class: "formats", role: "toolbar", "aria-label": t("format.name"), hidden: "" });
  element.append(
    button("bold", t("format.bold"), `${control} B`),
    button("italic", t("format.italic"), `${control} I`),
    button("struck", t("format.struck"), `${control} Shift X`),
    button("code", t("format.code"), `${control} E`),
    button("spoiler", t("format.spoiler"), ""),
    button("quote", t("format.quote"), ""),
  );
  const controller = new AbortController();

  /** @param {Form} form @param {string} name @param {string} keys */
  function button(form, name, keys) {
    const title = keys === "" ? name : `${name} (${keys})`;
    const press = () => apply(form);
    const one = h("button", { type: "button", class: "icon-button", "aria-label": name, title, click: press });
    one.append(icon(form === "spoiler" ? "eye-off" : form));
    // The field keeps its selection.
    one.addEventListener("pointerdown", (event) => event.preventDefault());
    return one;
  }

  /** @param {Form} form */
  function apply(form) {
    const done = formatted(area.value, area.selectionStart, area.selectionEnd, form);
    write(done.from, done.to, done.text);
    area.setSelectionRange(done.start, done.end);
  }

  function settle() {
    const isIn = document.activeElement === area || element.contains(document.activeElement);
    element.hidden = !isIn || area.disabled || area.selectionStart === area.selectionEnd;
  }

  document.addEventListener("selectionchange", settle, { signal: controller.signal });
  for (const name of ["select", "input", "focus"]) area.addEventListener(name, settle);
  // The focus may go from the one to the other.
  for (const one of [area, element]) one.addEventListener("focusout", () => setTimeout(settle));

  return {
    element,
    /**
     * Whether a key was for a form.
     * @param {KeyboardEvent} event
     */
    takes(event) {
      if (!(event.ctrlKey || event.metaKey) || event.altKey) return false;
      const key = KEYS.find((one) => one.code === event.code && (one.shift ?? false) === event.shiftKey);
      if (!key || (key.needsSelection && area.selectionStart === area.selectionEnd)) return false;
      event.preventDefault();
      apply(key.form);
      return true;
    },
    stop: () => controller.abort(),
  };
}
