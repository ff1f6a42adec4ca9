// What the pages have in their templates, and small hands for it.

import { h } from "../client/base/dom.js";
import { locale } from "./spoken.js";

/**
 * The element of the page with this id, which its template has.
 * @template {HTMLElement} Kind
 * @overload
 * @param {string} id
 * @param {new () => Kind} kind
 * @returns {Kind}
 */
/**
 * @overload
 * @param {string} id
 * @returns {HTMLElement}
 */
/**
 * @param {string} id
 * @param {new () => HTMLElement} [kind]
 * @throws {Error} where there is none of this kind.
 */
export function byId(id, kind = HTMLElement) {
  const element = document.getElementById(id);
  if (!(element instanceof kind)) throw new Error(`no ${kind.name} #${id}`);
  return element;
}

/**
 * The same where the page may have none.
 * @template {HTMLElement} Kind
 * @param {string} id
 * @param {new () => Kind} kind
 */
export function findById(id, kind) {
  return document.getElementById(id) === null ? null : byId(id, kind);
}

export const inputById = (/** @type {string} */ id) => byId(id, HTMLInputElement);
export const buttonById = (/** @type {string} */ id) => byId(id, HTMLButtonElement);
export const formById = (/** @type {string} */ id) => byId(id, HTMLFormElement);

/**
 * The first element within one that a selector finds.
 * @template {Element} Kind
 * @param {ParentNode} place
 * @param {string} selector
 * @param {new () => Kind} kind
 * @throws {Error} where there is none of this kind.
 */
export function within(place, selector, kind) {
  const element = place.querySelector(selector);
  if (!(element instanceof kind)) throw new Error(`no ${kind.name} ${selector}`);
  return element;
}

/**
 * @param {HTMLFormElement} form
 * @param {string} name
 */
export function inputIn(form, name) {
  return within(form, `[name="${name}"]`, HTMLInputElement);
}

/**
 * Shows one of the page's steps (`<section data-step>`), hides the others, and moves the reader to its heading.
 * @param {string} id
 * @param {{focus?: boolean}} [options]
 */
export function showStep(id, { focus = true } = {}) {
  for (const step of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-step]"))) {
    step.hidden = step.id !== id;
  }
  const step = byId(id);
  const heading = /** @type {HTMLElement | null} */ (step.querySelector("h1, h2"));
  if (heading && step.dataset["title"] !== undefined) {
    document.title = `${step.dataset["title"] || heading.textContent} – ${document.body.dataset["serviceName"]}`;
  }
  if (!focus) return;
  const target = /** @type {HTMLElement | null} */ (step.querySelector("[data-first]")) ?? heading;
  if (heading && target === heading) heading.tabIndex = -1;
  target?.focus();
}

/**
 * Says something without moving the focus: the live region of the section, else of the page, reads it out, and it stays
 * to be seen.
 * @param {string} text
 * @param {"good" | "bad"} [kind]
 * @param {ParentNode} [section]
 */
export function say(text, kind = "good", section = document) {
  const status = within(section, ".status", HTMLElement);
  status.className = `status ${kind}`;
  status.textContent = text;
}

/**
 * A moment in the reader's time zone; ISO 8601 in UTC when it is pointed at.
 * @param {string | number} timestamp ISO 8601, or Unix milliseconds.
 */
export function when(timestamp) {
  const moment = new Date(timestamp);
  return h(
    "time",
    { datetime: moment.toISOString(), title: moment.toISOString() },
    moment.toLocaleString(locale(), { dateStyle: "medium", timeStyle: "short" }),
  );
}

/** The secret in the fragment of a mailed link (`#token=...`): out of the address bar and of the history at once. */
export function takeFragmentToken() {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  history.replaceState(null, "", location.pathname + location.search);
  return token;
}
