// What every form does: refuse to be sent twice, say what is wrong where it is wrong, and above it as a summary that is
// read out and takes the focus (WCAG 2.2: 3.3.1, 3.3.3, 4.1.3).

import { ApiError } from "./api.js";
import { fill, h } from "../client/base/dom.js";
import { inputById } from "./dom.js";
import { t } from "./spoken.js";

/** @typedef {HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement} Control */
/** @typedef {{input?: Control | null, message: string}} Problem With a control it is written beside that, too. */
/** @typedef {Record<string, string>} Texts */

/**
 * `send` gets the texts of the form by name; what it throws is shown.
 * @param {HTMLFormElement} form
 * @param {(texts: Texts) => unknown} send
 * @param {{paths?: Record<string, string>}} [options] `paths` maps fields of the API to names of the form.
 */
export function onSubmit(form, send, { paths = {} } = {}) {
  form.noValidate = true;
  let busy = false;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (busy) return;
    clearErrors(form);
    const missing = missingFields(form);
    if (missing.length > 0) {
      showErrors(form, missing);
      return;
    }
    busy = true;
    const release = occupy(form);
    try {
      await send(fieldsOf(form));
    } catch (error) {
      if (!(error instanceof ApiError)) {
        showErrors(form, [{ message: t("Something went wrong on this page. Reload it and try again.") }]);
        throw error;
      }
      release();
      showErrors(form, problemsOf(form, error, paths));
    } finally {
      busy = false;
      release();
    }
  });
}

/**
 * A button outside a form that does one thing; failures go to `onError`.
 * @param {HTMLElement} button
 * @param {() => unknown} act
 * @param {(error: ApiError) => void} onError
 */
export function onClick(button, act, onError) {
  button.addEventListener("click", async () => {
    if (button.getAttribute("aria-disabled") === "true") return;
    button.setAttribute("aria-disabled", "true");
    try {
      await act();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      onError(error);
    } finally {
      button.removeAttribute("aria-disabled");
    }
  });
}

/**
 * The texts of a form by the names of its controls: of those that exclude one another the one that was chosen.
 * @param {HTMLFormElement} form
 */
export function fieldsOf(form) {
  /** @type {Texts} */
  const fields = {};
  for (const control of controlsOf(form)) {
    const isLeftOut = control.type === "checkbox" || (control.type === "radio" && !isTicked(control));
    if (!isLeftOut) fields[control.name] = control.value;
  }
  return fields;
}

/** @param {HTMLFormElement} form */
function controlsOf(form) {
  return /** @type {Control[]} */ ([...form.elements].filter((one) => isControl(one) && one.name !== ""));
}

/**
 * @param {unknown} element
 * @returns {element is Control}
 */
function isControl(element) {
  return (
    element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement || element instanceof HTMLSelectElement
  );
}

/** @param {Control} control */
function isTicked(control) {
  return control instanceof HTMLInputElement && control.checked;
}

/** @param {HTMLFormElement} form */
export function clearErrors(form) {
  const summary = summaryOf(form);
  if (summary) {
    summary.hidden = true;
    fill(summary);
  }
  for (const input of form.querySelectorAll("[aria-invalid]")) {
    input.removeAttribute("aria-invalid");
    const message = document.getElementById(`${input.id}-error`);
    message?.remove();
    describe(input, `${input.id}-error`, false);
  }
}

/** @param {HTMLFormElement} form */
function summaryOf(form) {
  return /** @type {HTMLElement | null} */ (form.querySelector(".errors"));
}

/**
 * Those with a control are written beside it, too, and linked from the summary.
 * @param {HTMLFormElement} form
 * @param {Problem[]} problems
 */
export function showErrors(form, problems) {
  const summary = summaryOf(form);
  if (!summary) return;
  /** @type {HTMLElement[]} */
  const lines = [];
  for (const { input, message } of problems) {
    if (lines.some((line) => line.textContent === message)) {
      if (input) input.setAttribute("aria-invalid", "true");
      continue;
    }
    if (!input) {
      lines.push(h("li", {}, message));
      continue;
    }
    const id = `${input.id}-error`;
    if (!document.getElementById(id)) {
      (input.closest(".field") ?? input.parentElement ?? form).append(h("p", { class: "field-error", id }, message));
      describe(input, id, true);
    }
    input.setAttribute("aria-invalid", "true");
    const jump = (/** @type {Event} */ event) => {
      event.preventDefault();
      input.focus();
    };
    lines.push(h("li", {}, h("a", { href: `#${input.id}`, click: jump }, message)));
  }
  fill(summary, h("p", { class: "errors-title" }, t("That did not work")), h("ul", {}, lines));
  summary.hidden = false;
  summary.focus();
}

/** @param {HTMLFormElement} form */
function missingFields(form) {
  /** @type {Problem[]} */
  const missing = [];
  for (const input of controlsOf(form)) {
    if (!input.required || input.closest("[hidden]")) continue;
    const least = input instanceof HTMLSelectElement ? 0 : input.minLength;
    const same = input.dataset["same"];
    if (input.type === "checkbox" ? !isTicked(input) : input.value.trim() === "") {
      missing.push({ input, message: input.dataset["missing"] ?? t("Fill in this field.") });
    } else if (least > 0 && input.value.length < least) {
      missing.push({ input, message: t("Use at least {minLength} characters.", { minLength: least }) });
    } else if (same && input.value !== controlNamed(form, same)?.value) {
      missing.push({ input, message: t("The two passwords are different.") });
    } else if (input.type === "email" && !input.value.includes("@")) {
      missing.push({ input, message: t("An email address has an @, as in name@example.com.") });
    }
  }
  return missing;
}

/**
 * @param {HTMLFormElement} form
 * @param {string} name
 */
function controlNamed(form, name) {
  return controlsOf(form).find((one) => one.name === name || one.id === name);
}

/**
 * @param {HTMLFormElement} form
 * @param {ApiError} error
 * @param {Record<string, string>} paths
 * @returns {Problem[]}
 */
function problemsOf(form, error, paths) {
  if (error.fields.length === 0) return [{ message: error.message }];
  return error.fields.map(({ path, message }) => {
    const input = controlNamed(form, paths[path] ?? path) ?? controlNamed(form, path.split(".")[0] ?? path);
    return { input: input && !input.closest("[hidden]") ? input : null, message };
  });
}

/**
 * While the request is under way the button says so and cannot be pressed; it stays focusable.
 * @param {HTMLFormElement} form
 */
function occupy(form) {
  const button = form.querySelector("button[type=submit]");
  if (!button) return () => {};
  button.setAttribute("aria-disabled", "true");
  form.setAttribute("aria-busy", "true");
  return () => {
    button.removeAttribute("aria-disabled");
    form.removeAttribute("aria-busy");
  };
}

/**
 * @param {Element} input
 * @param {string} id
 * @param {boolean} on
 */
function describe(input, id, on) {
  const ids = new Set((input.getAttribute("aria-describedby") ?? "").split(" ").filter(Boolean));
  if (on) ids.add(id);
  else ids.delete(id);
  if (ids.size > 0) input.setAttribute("aria-describedby", [...ids].join(" "));
  else input.removeAttribute("aria-describedby");
}

/** "Show" beside every password. */
export function offerToShowPasswords() {
  for (const button of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("button[data-shows]"))) {
    const input = inputById(button.dataset["shows"] ?? "");
    button.hidden = false;
    button.addEventListener("click", () => {
      const shown = input.type === "text";
      input.type = shown ? "password" : "text";
      button.setAttribute("aria-pressed", String(!shown));
    });
  }
}
