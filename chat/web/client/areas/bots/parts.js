// What a person fills in for an application: texts, numbers, one of a few, what is chosen in a menu.

import { h } from "../../base/dom.js";
import { iconButton } from "../../base/icon.js";
import { t } from "../../words/catalogue.js";
import { bytes } from "../../views/messages/media.js";
import { choosable, chosenValues } from "../../views/names/choices.js";
import { plainName } from "../../views/names/people.js";
import { field } from "../../views/settings/fields.js";

/** @typedef {import("../../views/shell/app.js").App} App */
/** @typedef {import("../../views/names/choices.js").Choosable} Choosable */
/**
 * @typedef {object} Part
 * @property {HTMLElement} element
 * @property {() => string[]} read What stands there; nothing where it is empty.
 * @property {(words: string | null) => void} complain
 * @property {() => void} focus
 * @property {() => File | null} [file] Of a part that takes one.
 */
/** @typedef {{label: string, hint?: string | undefined, required: boolean}} Words */
/** @typedef {{app: App, channelId: string, guildId: string | null}} Where */

let number = 0;

/** A name for a control that is in the page once. */
export function partId() {
  return `part-${(number += 1)}`;
}

/** @param {Words} words */
function named({ label, required }) {
  return required ? plainName(label) : t("components.optional", { name: plainName(label) });
}

/**
 * @param {Words} words
 * @param {HTMLInputElement | HTMLTextAreaElement} input
 * @returns {Part}
 */
export function inputPart(words, input) {
  input.required = words.required;
  const hint = words.hint ? { hint: plainName(words.hint) } : {};
  const made = field({ id: partId(), label: named(words), input, ...hint });
  input.addEventListener("input", () => made.complain(null));
  return {
    element: made.element,
    complain: made.complain,
    read: () => (input.value === "" ? [] : [input.value]),
    focus: () => input.focus(),
  };
}

/**
 * @param {Words} words
 * @param {{isLong: boolean, least: number, most: number, value?: string | undefined,
 *   placeholder?: string | undefined}} bounds Of its characters.
 */
export function textPart(words, { isLong, least, most, value = "", placeholder = "" }) {
  const bounds = { class: "input", dir: "auto", minlength: least || null, maxlength: most, placeholder };
  const input = isLong
    ? h("textarea", { ...bounds, rows: "5" })
    : h("input", { ...bounds, type: "text", autocomplete: "off" });
  input.value = value;
  return inputPart(words, input);
}

/**
 * @param {Words} words
 * @param {{isWhole: boolean, least?: number | undefined, most?: number | undefined}} bounds
 */
export function numberPart(words, { isWhole, least, most }) {
  const step = isWhole ? "1" : "any";
  return inputPart(words, h("input", { class: "input", type: "number", step, min: least, max: most, dir: "ltr" }));
}

/**
 * One of a few, which are not found by searching.
 * @param {Words} words
 * @param {readonly {label: string, value: string}[]} options
 * @returns {Part}
 */
export function fewPart(words, options) {
  const id = partId();
  const none = h("option", { value: "" }, words.required ? t("components.choose") : t("components.none"));
  const rows = options.map(({ label, value }) => h("option", { value }, plainName(label)));
  const select = h("select", { class: "select", id, required: words.required }, none, ...rows);
  const { problem, complain, hint } = around(id, select, words);
  select.addEventListener("change", () => complain(null));
  return {
    element: h("div", { class: "field" }, h("label", { for: id }, named(words)), select, ...hint, problem),
    complain,
    read: () => (select.value === "" ? [] : [select.value]),
    focus: () => select.focus(),
  };
}

/**
 * A file: chosen, or dropped here.
 * @param {Words} words
 * @returns {Part & {file: () => File | null}}
 */
export function filePart(words) {
  const id = partId();
  /** @type {File | null} */
  let file = null;
  const input = h("input", { type: "file", hidden: "" });
  const ways = { type: "button", class: "button", id, "aria-labelledby": `${id}-label ${id}` };
  const button = h("button", { ...ways, click: () => input.click() }, t("file.choose"));
  const called = h("bdi", { class: "clip" });
  const size = h("span", {});
  const shown = h("span", { class: "file-shown small muted clip", role: "status" }, called, size);
  const away = iconButton("close", "", () => (put(null), button.focus()));
  const line = h("div", { class: "file-field" }, button, input, shown, away);
  const { problem, complain, hint } = around(id, button, words);
  const element = h("div", { class: "field" }, h("label", { for: id, id: `${id}-label` }, named(words)), line);
  element.append(...hint, problem);

  /** @param {File | null} next */
  function put(next) {
    file = next;
    const name = plainName(next?.name ?? "");
    called.textContent = next === null ? t("file.none") : name;
    size.textContent = next === null ? "" : ` · ${bytes(next.size)}`;
    away.hidden = next === null;
    away.title = t("composer.remove_file", { name });
    away.ariaLabel = away.title;
    complain(null);
  }

  /** @param {DragEvent} event */
  function dragged(event) {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    // What is below the dialog takes files as well.
    event.stopPropagation();
    line.classList.toggle("dropping", event.type === "dragover");
    const dropped = event.dataTransfer.files[0];
    if (event.type === "drop" && dropped) put(dropped);
  }

  element.addEventListener("dragover", dragged);
  element.addEventListener("dragleave", () => line.classList.remove("dropping"));
  element.addEventListener("drop", dragged);
  input.addEventListener("change", () => {
    if (input.files?.[0]) put(input.files[0]);
    input.value = "";
  });
  put(null);
  return {
    element,
    complain,
    read: () => (file === null ? [] : [file.name]),
    focus: () => button.focus(),
    file: () => file,
  };
}

/**
 * A menu: a button that says what is chosen and opens the choice.
 * @param {Where} where
 * @param {Words} words
 * @param {import("./choice.js").Menu} menu
 * @returns {Part}
 */
export function menuPart({ app, channelId, guildId }, words, menu) {
  const id = partId();
  const place = { store: app.store, guildId };
  const beginning = new Set(chosenValues(menu));
  /** @type {Choosable[]} */
  let chosen = choosable(place, channelId, menu).filter(({ value }) => beginning.has(value));
  const shown = h("bdi", { class: "clip" });
  const ways = { type: "button", class: "component-menu", id, "aria-haspopup": "dialog", click: choose };
  const button = h("button", { ...ways, "aria-labelledby": `${id}-label ${id}` }, shown);
  const { problem, complain, hint } = around(id, button, words);

  function draw() {
    const empty = menu.placeholder ? plainName(menu.placeholder) : t("components.choose");
    shown.textContent = chosen.map(({ label }) => label).join(", ") || empty;
  }

  function choose() {
    const hand = (/** @type {string[]} */ _values, /** @type {Choosable[]} */ taken) => {
      chosen = taken;
      complain(null);
      draw();
    };
    app.open("bot_choice", { menu, channelId, guildId, chosen, hand });
  }

  draw();
  const label = h("label", { for: id, id: `${id}-label` }, named(words));
  return {
    element: h("div", { class: "field" }, label, button, ...hint, problem),
    complain,
    read: () => chosen.map(({ value }) => value),
    focus: () => button.focus(),
  };
}

/**
 * The hint of a control, and room for what is wrong with it.
 * @param {string} id
 * @param {HTMLElement} control
 * @param {Words} words
 */
function around(id, control, words) {
  const problem = h("p", { class: "field-error", hidden: true, id: `${id}-problem` });
  const hint = words.hint ? [h("p", { class: "hint", id: `${id}-hint` }, plainName(words.hint))] : [];
  control.setAttribute("aria-describedby", `${id}-hint ${id}-problem`);
  const complain = (/** @type {string | null} */ said) => {
    problem.hidden = said === null;
    problem.textContent = said;
    if (said === null) control.removeAttribute("aria-invalid");
    else control.setAttribute("aria-invalid", "true");
  };
  return { problem, hint, complain };
}
