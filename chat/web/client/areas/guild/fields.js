// Fields of settings, and the bar that appears when something was changed.

import { fill, h } from "../../base/dom.js";
import { t } from "../../words/catalogue.js";
import { wordsOf } from "../../views/shell/faults.js";

/**
 * @param {string} id
 * @param {string} label
 * @param {HTMLElement} control
 * @param {string} [hint]
 */
export function field(id, label, control, hint) {
  control.id = id;
  const row = h("div", { class: "field" }, h("label", { for: id }, label), control);
  if (hint) {
    row.append(h("p", { class: "hint", id: `${id}-hint` }, hint));
    control.setAttribute("aria-describedby", `${id}-hint`);
  }
  return row;
}

/** @param {string} label @param {HTMLInputElement} control */
export function check(label, control) {
  return h("label", { class: "check" }, control, label);
}

/** @param {Record<string, string>} attributes @param {string} value */
export function input(attributes, value) {
  const control = /** @type {HTMLInputElement} */ (h("input", { class: "input", autocomplete: "off", ...attributes }));
  control.value = value;
  return control;
}

/** @param {readonly (readonly [string, string])[]} choices @param {string} value */
export function select(choices, value) {
  const control = h("select", { class: "select" });
  for (const [one, words] of choices) control.append(h("option", { value: one }, words));
  control.value = value;
  return control;
}

/**
 * A form that shows what can be saved once it differs from what there is.
 * @param {object} parts
 * @param {HTMLElement} parts.content
 * @param {() => Record<string, unknown>} parts.read What the fields say.
 * @param {(changes: Record<string, unknown>) => Promise<unknown>} parts.save What differs.
 * @param {() => void} parts.undo Fills the fields again.
 */
export function settingsForm({ content, read, save, undo }) {
  const said = h("span", { role: "status" });
  const button = h("button", { type: "submit", class: "button primary" }, t("panel.save"));
  const back = h("button", { type: "button", class: "button" }, t("settings.undo"));
  const bar = h("div", { class: "guild-set-save", hidden: "" }, said, back, button);
  const element = h("form", { class: "guild-set-form" }, content, bar);
  let kept = read();

  function changes() {
    const now = read();
    return Object.fromEntries(
      Object.entries(now).filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(kept[key])),
    );
  }

  function settle() {
    const isChanged = Object.keys(changes()).length > 0;
    if (isChanged && bar.hidden) fill(said, t("settings.changed"));
    bar.hidden = !isChanged;
  }

  element.addEventListener("input", settle);
  element.addEventListener("change", settle);
  back.addEventListener("click", () => (undo(), settle()));
  element.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (bar.hidden || !element.reportValidity()) return;
    element.ariaBusy = "true";
    try {
      await save(changes());
      kept = read();
      settle();
    } catch (error) {
      fill(said, wordsOf(error));
    }
    element.ariaBusy = "false";
  });
  return {
    element,
    /** What there is now; the fields stand as they do. */
    keep() {
      kept = read();
      settle();
    },
    settle,
    isChanged: () => !bar.hidden,
  };
}
