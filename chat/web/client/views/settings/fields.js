// What pages of settings are made of: cards, switches, choices, fields, and the bar that saves.

import { h } from "../../base/dom.js";
import { t } from "../../words/catalogue.js";

/** @typedef {(value: any) => unknown} Change What a new value of the field does; a rejection takes it back. */

let number = 0;

/**
 * @param {string} title
 * @param {string | null} words
 * @param {...Node} content
 */
export function card(title, words, ...content) {
  const heading = h("h2", {}, title);
  heading.id = `settings-${(number += 1)}`;
  const element = h("section", { class: "card", "aria-labelledby": heading.id }, heading);
  if (words !== null) element.append(h("p", { class: "muted small" }, words));
  element.append(...content);
  return element;
}

/**
 * Something that is on or off, at once.
 * @param {object} parts
 * @param {string} parts.label
 * @param {string} [parts.hint]
 * @param {boolean} parts.checked
 * @param {Change} parts.change
 * @param {(error: unknown) => void} parts.report
 */
export function toggle({ label, hint, checked, change, report }) {
  const input = h("input", { type: "checkbox", role: "switch" });
  input.checked = checked;
  const words = h("span", { class: "toggle-words" }, h("span", {}, label));
  if (hint) {
    const line = h("span", { class: "hint" }, hint);
    line.id = `settings-${(number += 1)}`;
    input.setAttribute("aria-describedby", line.id);
    input.setAttribute("aria-label", label);
    words.append(line);
  }
  input.addEventListener("change", async () => {
    const wanted = input.checked;
    try {
      await change(wanted);
    } catch (error) {
      input.checked = !wanted;
      report(error);
    }
  });
  return h("label", { class: "toggle" }, words, input);
}

/**
 * One of a few, at once.
 * @param {object} parts
 * @param {string} parts.legend
 * @param {{value: string, label: string, hint?: string}[]} parts.options
 * @param {string} parts.value
 * @param {Change} parts.change
 * @param {(error: unknown) => void} parts.report
 */
export function choices({ legend, options, value, change, report }) {
  const name = `settings-${(number += 1)}`;
  const group = h("fieldset", { class: "choices-group" }, h("legend", { class: "unseen" }, legend));
  let kept = value;
  for (const option of options) {
    const input = h("input", { type: "radio", name, value: option.value });
    input.checked = option.value === value;
    const words = h("span", { class: "toggle-words" }, h("span", {}, option.label));
    if (option.hint) words.append(h("span", { class: "hint" }, option.hint));
    group.append(h("label", { class: "choice" }, input, words));
  }
  group.addEventListener("change", async (event) => {
    const wanted = /** @type {HTMLInputElement} */ (event.target).value;
    try {
      await change(wanted);
      kept = wanted;
    } catch (error) {
      for (const input of group.querySelectorAll("input")) input.checked = input.value === kept;
      report(error);
    }
  });
  return group;
}

/**
 * A field with its name, a hint and room for what is wrong with it.
 * @param {object} parts
 * @param {string} parts.id
 * @param {string} parts.label
 * @param {HTMLInputElement | HTMLTextAreaElement} parts.input
 * @param {string} [parts.hint]
 */
export function field({ id, label, input, hint }) {
  input.id = id;
  const problem = h("p", { class: "field-error", hidden: "" });
  problem.id = `${id}-problem`;
  const element = h("div", { class: "field" }, h("label", { for: id }, label), input);
  const described = [problem.id];
  if (hint) {
    const line = h("p", { class: "hint" }, hint);
    line.id = `${id}-hint`;
    described.push(line.id);
    element.append(line);
  }
  element.append(problem);
  input.setAttribute("aria-describedby", described.join(" "));
  return {
    element,
    input,
    /** @param {string | null} words */
    complain(words) {
      problem.hidden = words === null;
      problem.textContent = words;
      if (words === null) input.removeAttribute("aria-invalid");
      else input.setAttribute("aria-invalid", "true");
    },
  };
}

/**
 * The bar that comes when something was changed.
 * @param {() => Promise<unknown>} save
 * @param {() => void} undo
 */
export function saveBar(save, undo) {
  const words = h("p", {}, t("settings.unsaved"));
  const keep = h("button", { type: "button", class: "button primary" }, t("settings.save"));
  const back = h("button", { type: "button", class: "button plain", click: undo }, t("settings.undo"));
  const element = h("div", { class: "save-bar", role: "status", hidden: "" }, words, back, keep);
  keep.addEventListener("click", async () => {
    if (keep.ariaBusy === "true") return;
    keep.ariaBusy = "true";
    await save();
    keep.ariaBusy = "false";
  });
  return {
    element,
    /** @param {boolean} isChanged */
    show(isChanged) {
      element.hidden = !isChanged;
    },
    /** What stands in the bar: nothing is saved yet, or what was wrong. @param {string | null} problem */
    say(problem) {
      words.textContent = problem ?? t("settings.unsaved");
      words.classList.toggle("field-error", problem !== null);
    },
  };
}
