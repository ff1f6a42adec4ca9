// Questions in front of the page: <dialog> keeps the focus inside and gives it back.

import { ApiError } from "./api.js";
import { byId } from "./dom.js";
import { clearErrors, fieldsOf } from "./forms.js";
import { t } from "./spoken.js";

export class Cancelled extends ApiError {
  constructor() {
    super(0, "CANCELLED", t("Nothing was changed."));
  }
}

// Opens the dialog and gives what `settle` is called with; `wire(settle)` connects its buttons and may give back what
// disconnects them. Escape and Cancel reject with Cancelled. The dialog is closed either way.
export function ask(dialog, wire) {
  return new Promise((resolve, reject) => {
    const controller = new AbortController();
    const { signal } = controller;
    const end = (act) => (value) => {
      controller.abort();
      if (dialog.open) dialog.close();
      act(value);
    };
    const cancel = end(() => reject(new Cancelled()));
    dialog.addEventListener("cancel", (event) => (event.preventDefault(), cancel()), { signal });
    dialog.querySelector("[data-cancel]").addEventListener("click", cancel, { signal });
    wire(end(resolve), signal);
    if (!dialog.open) dialog.showModal();
  });
}

// "Are you sure": title, text and the word on the button.
export function confirmed({ title, text, action }) {
  byId("confirm-title").textContent = title;
  byId("confirm-text").textContent = text;
  byId("confirm-yes").textContent = action;
  return ask(byId("confirm"), (settle, signal) => {
    byId("confirm-yes").addEventListener("click", () => settle(true), { signal });
  });
}

// One line of text.
export function asked({ title, label, value }) {
  const form = byId("name-form");
  const input = form.elements.name;
  byId("name-title").textContent = title;
  byId("name-label").textContent = label;
  clearErrors(form);
  input.value = value;
  const answer = ask(byId("name"), (settle, signal) => {
    form.addEventListener(
      "submit",
      (event) => {
        event.preventDefault();
        const { name } = fieldsOf(form);
        if (name.trim() !== "") settle(name.trim());
      },
      { signal },
    );
  });
  input.select();
  return answer;
}
