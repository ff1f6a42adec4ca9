// Does what a row of an action table says: tells what will happen, asks for what it needs, sends it once, and shows what
// came of it. Gives the answer, or null when the person thought better of it.

import { fill, h } from "../client/base/dom.js";
import { makeField } from "./admin_fields.js";
import { announce, sentences } from "./admin_parts.js";
import { ask, missing } from "./admin_session.js";
import { ApiError } from "./api.js";
import { Cancelled } from "./dialogs.js";
import { onSubmit, showErrors } from "./forms.js";
import { t, tn } from "./spoken.js";

/** @typedef {import("../client/base/dom.js").Child} Child */
/** @typedef {import("./admin_fields.js").Field} Field */
/** @typedef {import("./admin_fields.js").Made} Made */
/** @typedef {{id: string, username: string, global_name?: string | null}} Subject The account that it is about. */
/** @typedef {{params?: Record<string, string>, user?: Subject}} Context What every caller of a row may give. */
/**
 * A row of the tables of actions: an operation that changes something, and its words.
 * @template C The context that the row needs.
 * @template Data What the operation answers.
 * @typedef {object} Action
 * @property {string | ((c: C) => string)} label What is offered.
 * @property {string} button The word that does it.
 * @property {import("./admin_session.js").Acls} acls What the caller needs besides admin:authenticate.
 * @property {string} method
 * @property {string} path
 * @property {(c: C) => Child} text What happens, told before it does.
 * @property {(c: C) => readonly Field[]} [fields] What is asked for.
 * @property {(c: C) => string | null} [blocked] Why it cannot be done now; null when it can.
 * @property {(c: C) => boolean} [shown] Whether this instance and this account have it at all.
 * @property {boolean} [reason] Whether an audit log reason is asked for; true unless said otherwise.
 * @property {boolean} [reasonRequired]
 * @property {string} [reasonLabel]
 * @property {string} [reasonHint]
 * @property {(c: C, data: Data) => Child} done What is said afterwards.
 * @property {(data: Data) => Child} [result] What is shown afterwards and only once.
 * @property {(c: C) => string} [typed] A word that has to be typed first, where nothing can be taken back.
 * @property {boolean} [query] The fields go into the query.
 * @property {readonly string[]} [inPath] Fields that go into the path.
 * @property {boolean} [bodiless] There is no body.
 * @property {boolean} [danger]
 * @property {boolean} [reloads] The answer is not the thing that is shown: it is read anew.
 * @property {boolean} [job] A job was ordered.
 * @property {string} [place] Where it is offered, if not with the others.
 */
/**
 * The same with method and path as they are written, from which follows what is answered.
 * @template C
 * @template {string} Method
 * @template {string} Path
 * @typedef {Action<C, import("wire").Answer<Method, Path>> & {method: Method, path: Path}} Row
 */

const REASON_LENGTH = 512;

/**
 * @template {Context} C
 * @template Data
 * @param {Action<C, Data>} action
 * @param {C} context
 */
export function labelOf(action, context) {
  return typeof action.label === "function" ? action.label(context) : action.label;
}

/**
 * Why the action cannot be done now, for a person; null when it can.
 * @template {Context} C
 * @template Data
 * @param {Action<C, Data>} action
 * @param {C} context
 */
export function hindrance(action, context) {
  const lacking = missing(action.acls);
  if (lacking.length > 0) return t("You need the permission {permissions}.", { permissions: lacking.join(t(" and ")) });
  return action.blocked?.(context) ?? null;
}

/**
 * The button of an action; where it cannot be done it says why. `then(answer, action)` follows on success.
 * @template {Context} C
 * @template Data
 * @param {string} name
 * @param {Action<C, Data>} action
 * @param {C} context
 * @param {((answer: Data, action: Action<C, Data>) => unknown) | null} [then]
 * @param {{label?: string}} [options]
 */
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

/**
 * @template {Context} C
 * @template Data
 * @param {Action<C, Data>} action
 * @param {C} context
 * @returns {Promise<{answer: Data} | null>}
 */
export function perform(action, context) {
  const fields = (action.fields?.(context) ?? []).map(makeField);
  const reason = action.reason === false ? null : reasonField(action);
  const typed = action.typed ? typedField(action.typed(context)) : null;
  const title = h("h2", { id: "action-title" }, labelOf(action, context));
  const cancel = h("button", { type: "button", "data-cancel": "" }, t("Cancel"));
  const send = h("button", { type: "submit", class: action.danger ? "danger" : "primary" }, action.button);
  const form = h(
    "form",
    { method: "dialog", "aria-labelledby": "action-title" },
    title,
    context.user ? h("p", { class: "subject" }, t("Account:"), " ", h("strong", { class: "from-outside" }, nameOf(context.user)), " ", h("code", {}, context.user.id)) : null,
    h("p", { id: "action-text" }, action.text(context)),
    h("div", { class: "errors", role: "alert", tabindex: "-1", hidden: true }),
    fields.map(({ element }) => element),
    reason,
    typed,
    h("div", { class: "buttons" }, cancel, send),
  );
  const dialog = h("dialog", { class: "action", "aria-labelledby": "action-title", "aria-describedby": "action-text" }, form);
  document.body.append(dialog);

  return new Promise((resolve) => {
    /** @type {{answer: Data} | null} */
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
      const problems = problemsOf(fields, typed);
      if (problems.length > 0) {
        showErrors(form, problems);
        return;
      }
      const members = Object.assign({}, ...fields.map((field) => field.members()));
      const params = { ...context.params };
      for (const name of action.inPath ?? []) {
        params[name] = String(members[name] ?? "");
        delete members[name];
      }
      busy = true;
      try {
        const asked = {
          params,
          ...(action.query ? { query: members } : hasBody(action) ? { body: members } : {}),
          reason: reason?.querySelector("textarea")?.value ?? "",
        };
        const data = /** @type {Data} */ (await ask(action, asked));
        answer = { answer: data };
        const said = action.done(context, data);
        if (action.result) showResult(dialog, title.textContent ?? "", action.result(data));
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
    const first = /** @type {HTMLElement | null} */ (form.querySelector("input:not([type=hidden]), select, textarea"));
    (first ?? (action.danger ? cancel : send)).focus();
  });
}

/**
 * What the browser's own checks leave open.
 * @param {Made[]} fields
 * @param {HTMLElement | null} typed
 */
function problemsOf(fields, typed) {
  const problems = fields.flatMap((field) => field.problems?.() ?? []);
  const input = typed?.querySelector("input");
  if (input && input.value.trim() !== input.dataset["word"]) problems.push({ input, message: t("The word is another one.") });
  return problems;
}

/** @param {{fields?: unknown, bodiless?: boolean}} action */
function hasBody(action) {
  return action.fields !== undefined && !action.bodiless;
}

/**
 * What the API's sentences leave open on this page.
 * @param {unknown} error
 */
function inContext(error) {
  if (!(error instanceof ApiError)) return error;
  if (error.code === "STORE_BILLING_UNAVAILABLE") return new ApiError(error.status, error.code, error.body.message ?? error.message, error.body);
  /** @type {Record<number, string>} */
  const sentencesOf = {
    409: t("Somebody else has changed this in the meantime, or it has begun already. Close this and load the page anew to see how it stands."),
    0: t("The answer did not arrive, so it may or may not be done: load the page anew before you try again."),
  };
  const more = sentencesOf[error.status];
  if (more) return new ApiError(error.status, error.code, sentences(error.message, more), { ...error.body, errors: [] });
  return error;
}

/** @param {{reasonLabel?: string, reasonHint?: string, reasonRequired?: boolean}} action */
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

/** @param {string} word */
function typedField(word) {
  const id = "action-typed";
  return h(
    "div",
    { class: "field" },
    h("label", { for: id }, tn("Type {word} to go on", { word: h("strong", { class: "from-outside" }, word) })),
    h("input", { id, name: "typed", type: "text", autocomplete: "off", autocapitalize: "none", spellcheck: "false", required: true, "data-word": word }),
  );
}

/**
 * @param {HTMLDialogElement} dialog
 * @param {string} title
 * @param {Child} parts
 */
function showResult(dialog, title, parts) {
  const done = h("button", { type: "button", class: "primary" }, t("Done"));
  done.addEventListener("click", () => dialog.close());
  const heading = h("h2", { id: "action-title", tabindex: "-1" }, title);
  fill(dialog, heading, h("div", { id: "action-text" }, parts), h("div", { class: "buttons" }, done));
  heading.focus();
}

/** @param {Subject} user */
function nameOf(user) {
  return user.global_name ?? user.username;
}
