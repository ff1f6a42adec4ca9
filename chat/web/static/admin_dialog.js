// Does what a row of an action table says: tells what will happen, asks for what it needs, sends it once, and shows what
// came of it. Gives the answer, or null when the person thought better of it.

import { makeField } from "./admin_fields.js";
import { announce, sentences } from "./admin_parts.js";
import { administrator, ask, missing } from "./admin_session.js";
import { ApiError } from "./api.js";
import { Cancelled } from "./dialogs.js";
import { fill, h } from "./dom.js";
import { onSubmit, showErrors } from "./forms.js";
import { t, tn } from "./spoken.js";

const REASON_LENGTH = 512;

export function labelOf(action, context) {
  return typeof action.label === "function" ? action.label(context) : action.label;
}

// Why the action cannot be done now, for a person; null when it can.
export function hindrance(action, context) {
  const lacking = missing(action.acls);
  if (lacking.length > 0) return t("You need the permission {permissions}.", { permissions: lacking.join(t(" and ")) });
  return action.blocked?.(context) ?? null;
}

// The button of an action; where it cannot be done it says why. `then(answer, action)` follows on success.
export function actionButton(name, action, context, then, { label } = {}) {
  if (action.shown && !action.shown(context)) return null;
  const why = hindrance(action, context);
  const words = label ?? labelOf(action, context);
  const button = h(
    "button",
    { type: "button", class: action.danger ? "danger" : null, "data-action": name, "aria-disabled": why ? "true" : null },
    words,
  );
  const shown = why ? h("span", { class: "why" }, button, h("span", { class: "hint" }, why)) : button;
  button.addEventListener("click", async (event) => {
    // The second half of a double click was meant for the dialog that the first half closed.
    if (event.detail > 1) return;
    if (why) {
      announce(why, "bad");
      return;
    }
    const data = await perform(action, context);
    if (data === null) {
      button.focus();
      return;
    }
    try {
      await then?.(data.answer, action);
    } catch (error) {
      // It is done; what could not be shown of it is told.
      if (!(error instanceof ApiError)) throw error;
      announce(error.message, "bad");
    }
  });
  return shown;
}

export function perform(action, context) {
  const whole = { me: administrator(), ...context };
  const fields = (action.fields?.(whole) ?? []).map(makeField);
  const reason = action.reason === false ? null : reasonField(action);
  const typed = action.typed ? typedField(action.typed(whole)) : null;
  const title = h("h2", { id: "action-title" }, labelOf(action, whole));
  const cancel = h("button", { type: "button", "data-cancel": "" }, t("Cancel"));
  const send = h("button", { type: "submit", class: action.danger ? "danger" : "primary" }, action.button);
  const form = h(
    "form",
    { method: "dialog", "aria-labelledby": "action-title" },
    title,
    whole.user ? h("p", { class: "subject" }, t("Account:"), " ", h("strong", { class: "from-outside" }, nameOf(whole.user)), " ", h("code", {}, whole.user.id)) : null,
    h("p", { id: "action-text" }, action.text(whole)),
    h("div", { class: "errors", role: "alert", tabindex: "-1", hidden: true }),
    fields.map(({ element }) => element),
    reason,
    typed,
    h("div", { class: "buttons" }, cancel, send),
  );
  const dialog = h("dialog", { class: "action", "aria-labelledby": "action-title", "aria-describedby": "action-text" }, form);
  document.body.append(dialog);

  return new Promise((resolve) => {
    let answer = null;
    let busy = false;
    const open = new AbortController();
    const close = () => !busy && dialog.open && dialog.close();
    dialog.addEventListener("cancel", (event) => busy && event.preventDefault());
    cancel.addEventListener("click", close);
    // Another page behind an open question: the question goes, too.
    addEventListener("popstate", close, { signal: open.signal });
    dialog.addEventListener("close", () => {
      open.abort();
      dialog.remove();
      resolve(answer);
    });

    onSubmit(form, async () => {
      const problems = problemsOf(form, fields, typed);
      if (problems.length > 0) {
        showErrors(form, problems);
        return;
      }
      const members = Object.assign({}, ...fields.map((field) => field.members()));
      const params = { ...whole.params };
      for (const name of action.inPath ?? []) {
        params[name] = members[name];
        delete members[name];
      }
      busy = true;
      try {
        const data = await ask(action, {
          params,
          ...(action.query ? { query: members } : hasBody(action) ? { body: members } : {}),
          reason: reason?.querySelector("textarea").value,
        });
        answer = { answer: data };
        const said = action.done(whole, data);
        if (action.result) showResult(dialog, title.textContent, action.result(data));
        else dialog.close();
        announce(said);
      } catch (error) {
        if (error instanceof Cancelled) return;
        throw inContext(error);
      } finally {
        busy = false;
      }
    });
    dialog.showModal();
    (form.querySelector("input:not([type=hidden]), select, textarea") ?? (action.danger ? cancel : send)).focus();
  });
}

// What the browser's own checks leave open.
function problemsOf(form, fields, typed) {
  const problems = fields.flatMap((field) => field.problems?.() ?? []);
  const input = typed?.querySelector("input");
  if (input && input.value.trim() !== input.dataset.word) problems.push({ input, message: t("The word is another one.") });
  return problems;
}

function hasBody(action) {
  return action.fields !== undefined && !action.bodiless;
}

// What the API's sentences leave open on this page.
function inContext(error) {
  if (!(error instanceof ApiError)) return error;
  if (error.code === "STORE_BILLING_UNAVAILABLE") return new ApiError(error.status, error.code, error.body.message, error.body);
  const more = {
    409: t("Somebody else has changed this in the meantime, or it has begun already. Close this and load the page anew to see how it stands."),
    0: t("The answer did not arrive, so it may or may not be done: load the page anew before you try again."),
  }[error.status];
  if (more) return new ApiError(error.status, error.code, sentences(error.message, more), { ...error.body, errors: undefined });
  return error;
}

function reasonField(action) {
  const id = "action-reason";
  const label = action.reasonLabel ?? t("Reason for the audit log");
  const hint = action.reasonHint ?? t("Only administrators see it.");
  return h(
    "div",
    { class: "field" },
    h("label", { for: id }, label, action.reasonRequired ? null : [" ", h("span", { class: "optional" }, t("optional"))]),
    h("p", { class: "hint", id: `${id}-hint` }, hint),
    h("textarea", { id, name: "audit-log-reason", rows: "2", maxlength: REASON_LENGTH, required: action.reasonRequired, "aria-describedby": `${id}-hint` }),
  );
}

function typedField(word) {
  const id = "action-typed";
  return h(
    "div",
    { class: "field" },
    h("label", { for: id }, tn("Type {word} to go on", { word: h("strong", { class: "from-outside" }, word) })),
    h("input", { id, name: "typed", type: "text", autocomplete: "off", autocapitalize: "none", spellcheck: "false", required: true, "data-word": word }),
  );
}

function showResult(dialog, title, parts) {
  const done = h("button", { type: "button", class: "primary" }, t("Done"));
  done.addEventListener("click", () => dialog.close());
  const heading = h("h2", { id: "action-title", tabindex: "-1" }, title);
  fill(dialog, heading, h("div", { id: "action-text" }, parts), h("div", { class: "buttons" }, done));
  heading.focus();
}

function nameOf(user) {
  return user.global_name ?? user.username;
}
