// The session token of this browser, and whose it is.
//
// It lies in the browser's storage for this origin, because the API knows no cookies: it is sent in the Authorization
// header by these scripts alone, so that no other site can act with it. With "Stay signed in" it is in localStorage,
// shared by the tabs of this browser; without, in sessionStorage, and gone with the tab. It is never put into an address.

import { ApiError, call, exchange } from "./api.js";

/** @typedef {{global_name?: string | null, username?: string}} Named */

const KEY = "session";

/** @returns {{token: string, name: string} | null} */
export function current() {
  for (const storage of [sessionStorage, localStorage]) {
    try {
      const session = JSON.parse(storage.getItem(KEY) ?? "null");
      if (typeof session?.token === "string") return session;
    } catch {
      storage.removeItem(KEY);
    }
  }
  return null;
}

/**
 * @param {{token: string, user?: Named | null}} session
 * @param {boolean} stay beyond this tab
 */
export function keep({ token, user }, stay) {
  forget();
  (stay ? localStorage : sessionStorage).setItem(KEY, JSON.stringify({ token, name: nameOf(user) }));
}

export function forget() {
  sessionStorage.removeItem(KEY);
  localStorage.removeItem(KEY);
}

export function isStaying() {
  return localStorage.getItem(KEY) !== null;
}

/** @param {Named | null | undefined} user */
export function nameOf(user) {
  return user?.global_name || user?.username || "";
}

/**
 * A request of the person who is signed in. When the session is over, the visitor is sent to sign in and comes back.
 * @template {string} Method
 * @template {string} Path
 * @param {Method} method
 * @param {Path} path
 * @param {import("./api.js").Options<Method, Path>} [options]
 */
export async function signedIn(method, path, options = {}) {
  return (await signedInExchange(method, path, options)).data;
}

/**
 * @template {string} Method
 * @template {string} Path
 * @param {Method} method
 * @param {Path} path
 * @param {import("./api.js").Options<Method, Path>} [options]
 */
export async function signedInExchange(method, path, options = {}) {
  const token = current()?.token;
  if (!token) return askToSignIn();
  try {
    return await exchange(method, path, { ...options, token });
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) {
      forget();
      return askToSignIn();
    }
    throw error;
  }
}

export async function signOut() {
  const token = current()?.token;
  forget();
  if (token) await call("POST", "/v1/auth/logout", { token }).catch(() => null);
}

/**
 * Never settles: the page is being left.
 * @returns {Promise<never>}
 */
export function askToSignIn() {
  location.replace(withNext("/login", location.pathname + location.search));
  return new Promise(() => {});
}

// `next` is where somebody goes after signing in: a path of this origin, or it does not count.
export function nextPath(fallback = "/channels/@me/start") {
  const wanted = new URLSearchParams(location.search).get("next");
  if (!wanted || !wanted.startsWith("/")) return fallback;
  if (!URL.canParse(wanted, location.origin)) return fallback;
  const address = new URL(wanted, location.origin);
  // What is left of "/.//host" once its dots are gone names another host when it is followed by itself.
  const path = address.pathname + address.search;
  return address.origin === location.origin && !path.startsWith("//") ? path : fallback;
}

/**
 * @param {string} path
 * @param {string | null} next
 */
export function withNext(path, next) {
  return next ? `${path}?${new URLSearchParams({ next })}` : path;
}
