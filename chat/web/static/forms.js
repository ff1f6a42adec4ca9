// What every form does: refuse to be sent twice, say what is wrong where it is wrong, and above it as a summary that is
// read out and takes the focus (WCAG 2.2: 3.3.1, 3.3.3, 4.1.3).

import { ApiError } from "./api.js";
import { fill, h } from "./dom.js";
import { t } from "./spoken.js";

// `send(fields)` gets the values by name; what it throws is shown. `paths` maps fields of the API to names of the form.
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

// A button outside a form that does one thing; failures go to `onError`.
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

export function fieldsOf(form) {
  const fields = {};
  for (const input of form.elements) {
    if (!input.name) continue;
    if (input.type === "checkbox") fields[input.name] = input.checked;
    else if (input.type !== "radio" || input.checked) fields[input.name] = input.value;
  }
  return fields;
}

export function clearErrors(form) {
  const summary = form.querySelector(".errors");
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

// `problems` are {input?, message}: those with an input are written beside it, too, and linked from the summary.
export function showErrors(form, problems) {
  const summary = form.querySelector(".errors");
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
      (input.closest(".field") ?? input.parentElement).append(h("p", { class: "field-error", id }, message));
      describe(input, id, true);
    }
    input.setAttribute("aria-invalid", "true");
    const jump = (event) => {
      event.preventDefault();
      input.focus();
    };
    lines.push(h("li", {}, h("a", { href: `#${input.id}`, click: jump }, message)));
  }
  fill(summary, h("p", { class: "errors-title" }, t("That did not work")), h("ul", {}, lines));
  summary.hidden = false;
  summary.focus();
}

function missingFields(form) {
  const missing = [];
  for (const input of form.elements) {
    if (!input.name || !input.required || input.closest("[hidden]")) continue;
    if (input.type === "checkbox" ? !input.checked : input.value.trim() === "") {
      missing.push({ input, message: input.dataset.missing ?? t("Fill in this field.") });
    } else if (input.minLength > 0 && input.value.length < input.minLength) {
      missing.push({ input, message: t("Use at least {minLength} characters.", { minLength: input.minLength }) });
    } else if (input.dataset.same && input.value !== form.elements[input.dataset.same].value) {
      missing.push({ input, message: t("The two passwords are different.") });
    } else if (input.type === "email" && !input.value.includes("@")) {
      missing.push({ input, message: t("An email address has an @, as in name@example.com.") });
    }
  }
  return missing;
}

function problemsOf(form, error, paths) {
  if (error.fields.length === 0) return [{ message: error.message }];
  return error.fields.map(({ path, message }) => {
    const named = form.elements[paths[path] ?? path] ?? form.elements[path.split(".")[0]];
    const input = named instanceof RadioNodeList ? named[0] : named;
    return { input: input instanceof HTMLElement && !input.closest("[hidden]") ? input : null, message };
  });
}

// While the request is under way the button says so and cannot be pressed; it stays focusable.
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

function describe(input, id, on) {
  const ids = new Set((input.getAttribute("aria-describedby") ?? "").split(" ").filter(Boolean));
  if (on) ids.add(id);
  else ids.delete(id);
  if (ids.size > 0) input.setAttribute("aria-describedby", [...ids].join(" "));
  else input.removeAttribute("aria-describedby");
}

// "Show" beside every password.
export function offerToShowPasswords(root = document) {
  for (const button of root.querySelectorAll("button[data-shows]")) {
    const input = document.getElementById(button.dataset.shows);
    button.hidden = false;
    button.addEventListener("click", () => {
      const shown = input.type === "text";
      input.type = shown ? "password" : "text";
      button.setAttribute("aria-pressed", String(!shown));
    });
  }
}
