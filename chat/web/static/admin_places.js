// The places of the console, each under an address of its own: links, back and forward, and addresses that were kept
// all lead there. The search stands in the fragment, which the browser sends to nobody.

import { byId, fill, h } from "./dom.js";
import { ApiError } from "./api.js";
import { t } from "./spoken.js";

const places = [];
const scrolled = new Map();

let showing = new AbortController();
let visits = 0;
let shownPath = null;

// `show({params, search, signal})` gives {title, lead?, content}; `search` is the fragment as URLSearchParams, and
// `signal` ends what goes on (polling, requests) when the place is left.
export function register(address, show) {
  const names = [...address.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  const pattern = new RegExp(`^${address.replaceAll(/\{\w+\}/g, "([^/]+)")}/?$`);
  places.push({ pattern, names, show });
}

export async function start() {
  history.scrollRestoration = "manual";
  addEventListener("popstate", () => render());
  document.addEventListener("click", follow);
  await render();
}

// Goes to a place; `search` are the members of its fragment, those without a value left out.
export function go(path, search = {}) {
  const kept = Object.entries(search).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const text = new URLSearchParams(kept).toString();
  leave(text === "" ? path : `${path}#${text}`);
}

// The same place with another search.
export function look(search) {
  go(location.pathname, search);
}

// Reads everything that is shown anew.
export function again() {
  return render({ keepsStatus: true });
}

function follow(event) {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const anchor = event.target.closest("a[href]");
  if (!anchor || anchor.target || anchor.hasAttribute("download")) return;
  const address = new URL(anchor.href);
  const inside = address.pathname === "/admin" || address.pathname.startsWith("/admin/");
  if (address.origin !== location.origin || !inside || address.pathname === "/admin/sign-in") return;
  event.preventDefault();
  // The fragment holds the search, so links inside the page only move the focus.
  const inPage = anchor.getAttribute("href");
  if (inPage.startsWith("#")) {
    byId(inPage.slice(1))?.focus();
    return;
  }
  leave(address.pathname + address.hash);
}

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
  document.title = `${shown.title} – ${document.body.dataset.serviceName}`;
  markMenu(path);
  const first = shownPath === null;
  shownPath = path;
  if (!keepsStatus) scrollTo(0, top ? 0 : (scrolled.get(history.state?.visit ?? 0) ?? 0));
  if (first) return;
  const target = focused ? view.querySelector(focused) : null;
  if (!document.querySelector("dialog[open]")) (target ?? heading).focus({ preventScroll: true });
}

// How to find a control again after the place was drawn anew.
function handleOf(element) {
  if (element?.id) return `#${CSS.escape(element.id)}`;
  const action = element?.dataset?.action;
  return action ? `[data-action="${CSS.escape(action)}"]` : null;
}

function shownAt(path, signal) {
  const search = new URLSearchParams(location.hash.slice(1));
  for (const { pattern, names, show } of places) {
    const found = pattern.exec(path);
    if (!found) continue;
    const params = Object.fromEntries(names.map((name, index) => [name, decode(found[index + 1])]));
    return show({ params, search, signal });
  }
  return { title: t("There is nothing here"), content: h("p", {}, h("a", { href: "/admin" }, t("To the overview"))) };
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function sentenceOf(error) {
  const sentences = {
    MISSING_ACL: t("You do not have the permission that this asks for."),
    MISSING_PERMISSIONS: t("Your account administers nothing here any more."),
    NOT_FOUND: t("There is no such thing, or it is gone."),
  };
  return sentences[error.code] ?? (error.fields.length > 0 ? error.fields.map(({ message }) => message).join(" ") : error.message);
}

// What a search found, or in its place what was wrong with it, so that it can be mended.
export async function results(read) {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 400) throw error;
    return h("p", { class: "note", role: "alert" }, sentenceOf(error));
  }
}

function failure(error) {
  const sentence = sentenceOf(error);
  const retry = h("button", { type: "button", click: () => again() }, t("Try again"));
  return { title: t("That did not work"), content: [h("p", { class: "note", role: "alert" }, sentence), h("p", {}, retry)] };
}

function markMenu(path) {
  for (const anchor of document.querySelectorAll("#menu-list a")) {
    const place = anchor.getAttribute("href");
    const here = place === "/admin" ? path === place : path === place || path.startsWith(`${place}/`);
    if (here) anchor.setAttribute("aria-current", path === place ? "page" : "true");
    else anchor.removeAttribute("aria-current");
  }
  byId("menu").classList.remove("open");
  byId("menu-button").setAttribute("aria-expanded", "false");
}
