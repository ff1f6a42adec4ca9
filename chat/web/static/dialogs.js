// Questions in front of the page: <dialog> keeps the focus inside and gives it back.

import { ApiError } from "./api.js";
import { byId, formById, inputById, say, within } from "./dom.js";
import { clearErrors, fieldsOf } from "./forms.js";
import { t } from "./spoken.js";

export class Cancelled extends ApiError {
  constructor() {
    super(0, "CANCELLED", t("Nothing was changed."));
  }
}

/**
 * Says in a section why something was not done.
 * @param {ParentNode} section
 */
export function complainingIn(section) {
  return (/** @type {ApiError} */ error) => say(error.message, error instanceof Cancelled ? "good" : "bad", section);
}

/**
 * Opens the dialog and gives what `settle` is called with; `wire(settle)` connects its buttons, until the signal. Escape
 * and Cancel reject with Cancelled. The dialog is closed either way.
 * @template Value
 * @param {HTMLDialogElement} dialog
 * @param {(settle: (value: Value) => void, signal: AbortSignal) => void} wire
 * @returns {Promise<Value>}
 */
export function ask(dialog, wire) {
  return new Promise((resolve, reject) => {
    const controller = new AbortController();
    const { signal } = controller;
    const end = () => {
      controller.abort();
      if (dialog.open) dialog.close();
    };
    const cancel = () => (end(), reject(new Cancelled()));
    dialog.addEventListener("cancel", (event) => (event.preventDefault(), cancel()), { signal });
    within(dialog, "[data-cancel]", HTMLElement).addEventListener("click", cancel, { signal });
    wire((value) => (end(), resolve(value)), signal);
    if (!dialog.open) dialog.showModal();
  });
}

/**
 * "Are you sure": title, text and the word on the button.
 * @param {{title: string, text: string, action: string}} words
 * @returns {Promise<true>}
 */
export function confirmed({ title, text, action }) {
  byId("confirm-title").textContent = title;
  byId("confirm-text").textContent = text;
  byId("confirm-yes").textContent = action;
  return ask(byId("confirm", HTMLDialogElement), (settle, signal) => {
    byId("confirm-yes").addEventListener("click", () => settle(true), { signal });
  });
}

/**
 * One line of text.
 * @param {{title: string, label: string, value: string}} words
 * @returns {Promise<string>}
 */
export function asked({ title, label, value }) {
  const form = formById("name-form");
  const input = inputById("name-input");
  byId("name-title").textContent = title;
  byId("name-label").textContent = label;
  clearErrors(form);
  input.value = value;
  /** @type {Promise<string>} */
  const answer = ask(byId("name", HTMLDialogElement), (settle, signal) => {
    form.addEventListener(
      "submit",
      (event) => {
        event.preventDefault();
        const name = String(fieldsOf(form)["name"]).trim();
        if (name !== "") settle(name);
      },
      { signal },
    );
  });
  input.select();
  return answer;
}
