// The places of the console, each under an address of its own: links, back and forward, and addresses that were kept
// all lead there. The search stands in the fragment, which the browser sends to nobody.

import { decoded } from "../client/base/address.js";
import { fill, h } from "../client/base/dom.js";
import { byId } from "./dom.js";
import { ApiError } from "./api.js";
import { fieldsOf } from "./forms.js";
import { t } from "./spoken.js";

/** @typedef {import("../client/base/dom.js").Child} Child */
/** @typedef {{title: string, lead?: Child, content: Child}} Shown */
/**
 * @typedef {object} Visit
 * @property {Record<string, string>} params The members of the address.
 * @property {URLSearchParams} search The fragment.
 * @property {AbortSignal} signal Ends what goes on (polling, requests) when the place is left.
 */
/** @typedef {(visit: Visit) => Shown | Promise<Shown>} Show */

/** @type {{pattern: RegExp, names: string[], show: Show}[]} */
const places = [];
/** @type {Map<number, number>} */
const scrolled = new Map();

let showing = new AbortController();
let visits = 0;
/** @type {string | null} */
let shownPath = null;

/**
 * @param {string} address
 * @param {Show} show
 */
export function register(address, show) {
  const names = [...address.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? "");
  const pattern = new RegExp(`^${address.replaceAll(/\{\w+\}/g, "([^/]+)")}/?$`);
  places.push({ pattern, names, show });
}

export async function start() {
  history.scrollRestoration = "manual";
  addEventListener("popstate", () => render());
  document.addEventListener("click", follow);
  await render();
}

/** @typedef {Record<string, string | number | boolean | null | undefined>} Search */

/**
 * Goes to a place; `search` are the members of its fragment, those without a value left out.
 * @param {string} path
 * @param {Search} [search]
 */
export function go(path, search = {}) {
  const kept = Object.entries(search)
    .filter(([, value]) => value !== null && value !== undefined && value !== "")
    .map(([name, value]) => [name, String(value)]);
  const text = new URLSearchParams(kept).toString();
  leave(text === "" ? path : `${path}#${text}`);
}

/**
 * The same place with another search.
 * @param {Search} search
 */
export function look(search) {
  go(location.pathname, search);
}

/**
 * What a form looks for, by the names of its controls.
 * @param {HTMLFormElement} form
 */
export function searchedBy(form) {
  return Object.fromEntries(Object.entries(fieldsOf(form)).map(([name, value]) => [name, value.trim()]));
}

// Reads everything that is shown anew.
export function again() {
  return render({ keepsStatus: true });
}

/** @param {MouseEvent} event */
function follow(event) {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const anchor = event.target instanceof Element ? event.target.closest("a[href]") : null;
  if (!(anchor instanceof HTMLAnchorElement) || anchor.target || anchor.hasAttribute("download")) return;
  const address = new URL(anchor.href);
  const inside = address.pathname === "/admin" || address.pathname.startsWith("/admin/");
  if (address.origin !== location.origin || !inside || address.pathname === "/admin/sign-in") return;
  event.preventDefault();
  // The fragment holds the search, so links inside the page only move the focus.
  const inPage = anchor.getAttribute("href") ?? "";
  if (inPage.startsWith("#")) {
    document.getElementById(inPage.slice(1))?.focus();
    return;
  }
  leave(address.pathname + address.hash);
}

/** @param {string} address */
function leave(address) {
  scrolled.set(history.state?.visit ?? 0, scrollY);
  visits += 1;
  history.pushState({ visit: Date.now() + visits }, "", address);
  render({ top: true });
}

async function render({ top = false, keepsStatus = false } = {}) {
  showing.abort();
  const controller = new AbortController();
  showing = controller;
  const { signal } = controller;
  const path = location.pathname;
  const samePlace = path === shownPath;
  const focused = samePlace ? handleOf(document.activeElement) : null;
  const view = byId("view");
  if (!keepsStatus) fill(byId("status"));
  view.setAttribute("aria-busy", "true");
  let shown;
  try {
    shown = await shownAt(path, signal);
  } catch (error) {
    if (signal.aborted) return;
    if (!(error instanceof ApiError)) {
      view.removeAttribute("aria-busy");
      throw error;
    }
    shown = failure(error);
  }
  if (signal.aborted) return;
  const heading = h("h1", { tabindex: "-1", class: "from-outside" }, shown.title);
  fill(view, heading, shown.lead, shown.content);
  view.removeAttribute("aria-busy");
  view.querySelector(".tabs [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
  document.title = `${shown.title} – ${document.body.dataset["serviceName"]}`;
  markMenu(path);
  const first = shownPath === null;
  shownPath = path;
  if (!keepsStatus) scrollTo(0, top ? 0 : (scrolled.get(history.state?.visit ?? 0) ?? 0));
  if (first) return;
  const target = focused ? view.querySelector(focused) : null;
  if (!document.querySelector("dialog[open]")) (target instanceof HTMLElement ? target : heading).focus({ preventScroll: true });
}

/**
 * How to find a control again after the place was drawn anew.
 * @param {Element | null} element
 */
function handleOf(element) {
  if (element?.id) return `#${CSS.escape(element.id)}`;
  const action = element instanceof HTMLElement ? element.dataset["action"] : undefined;
  return action ? `[data-action="${CSS.escape(action)}"]` : null;
}

/**
 * @param {string} path
 * @param {AbortSignal} signal
 * @returns {Shown | Promise<Shown>}
 */
function shownAt(path, signal) {
  const search = new URLSearchParams(location.hash.slice(1));
  for (const { pattern, names, show } of places) {
    const found = pattern.exec(path);
    if (!found) continue;
    const params = Object.fromEntries(names.map((name, index) => [name, decoded(found[index + 1] ?? "")]));
    return show({ params, search, signal });
  }
  return { title: t("There is nothing here"), content: h("p", {}, h("a", { href: "/admin" }, t("To the overview"))) };
}

/** @param {ApiError} error */
function sentenceOf(error) {
  /** @type {Record<string, string>} */
  const sentences = {
    MISSING_ACL: t("You do not have the permission that this asks for."),
    MISSING_PERMISSIONS: t("Your account administers nothing here any more."),
    NOT_FOUND: t("There is no such thing, or it is gone."),
  };
  return sentences[error.code] ?? (error.fields.length > 0 ? error.fields.map(({ message }) => message).join(" ") : error.message);
}

/**
 * What a search found, or in its place what was wrong with it, so that it can be mended.
 * @param {() => Promise<Child>} read
 * @returns {Promise<Child>}
 */
export async function results(read) {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 400) throw error;
    return h("p", { class: "note", role: "alert" }, sentenceOf(error));
  }
}

/**
 * @param {ApiError} error
 * @returns {Shown}
 */
function failure(error) {
  const sentence = sentenceOf(error);
  const retry = h("button", { type: "button", click: () => again() }, t("Try again"));
  return { title: t("That did not work"), content: [h("p", { class: "note", role: "alert" }, sentence), h("p", {}, retry)] };
}

/** @param {string} path */
function markMenu(path) {
  for (const anchor of document.querySelectorAll("#menu-list a")) {
    const place = anchor.getAttribute("href") ?? "";
    const here = place === "/admin" ? path === place : path === place || path.startsWith(`${place}/`);
    if (here) anchor.setAttribute("aria-current", path === place ? "page" : "true");
    else anchor.removeAttribute("aria-current");
  }
  byId("menu").classList.remove("open");
  byId("menu-button").setAttribute("aria-expanded", "false");
}
