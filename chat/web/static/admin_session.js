// Requests of the administrator who is signed in, and what they may do.

import { pause } from "../client/base/pause.js";
import { current, forget } from "./admin_token.js";
import { ApiError, call, exchange } from "./api.js";
import { withNext } from "./session.js";
import { t } from "./spoken.js";
import { provedBy } from "./sudo.js";

/** @typedef {import("wire").AdminUser} AdminUser */
/** @typedef {AdminUser["acls"][number]} Acl */
/** @typedef {readonly (Acl | readonly Acl[])[]} Acls Names, or lists of names any of which will do. */
/** @typedef {string | number | boolean | null | undefined} Value */
/** @typedef {Record<string, Value | readonly Value[]>} Query */
/**
 * @template {string} Method
 * @template {string} Path
 * @typedef {{method: Method, path: Path, acls: Acls}} Operation An operation as it is declared.
 */
/**
 * @typedef {object} Asked
 * @property {Record<string, string | undefined>} [params] The members of its path.
 * @property {Query} [query]
 * @property {Record<string, unknown>} [body]
 * @property {string} [reason] For the audit log.
 * @property {AbortSignal} [signal]
 */

const PATIENCE_SECONDS = 20;
const ATTEMPTS = 4;

/** @type {AdminUser | null} */
let me = null;

// Reads who is signed in. Rejects as the API does: 401 leaves the page, 403 is for the caller to tell.
export async function enter() {
  if (current() === null) await askToSignIn();
  me = (await request("GET", "/v1/admin/users/@me")).user;
  return me;
}

/** @throws {Error} before `enter`. */
export function administrator() {
  if (me === null) throw new Error("nobody has entered");
  return me;
}

/** @param {string} userId */
export function isOwn(userId) {
  return administrator().id === userId;
}

/** @param {Acl} acl */
export function holds(acl) {
  const { acls } = administrator();
  return acls.includes("*") || acls.includes(acl);
}

/**
 * Which of an operation's ACLs are missing.
 * @param {Acls} acls
 */
export function missing(acls) {
  return acls
    .map((entry) => /** @type {Acl[]} */ ([entry].flat()))
    .filter((names) => !names.some(holds))
    .map((names) => names.join(t(" or ")));
}

/** @param {{acls: Acls}} operation */
export function may(operation) {
  return missing(operation.acls).length === 0;
}

/**
 * Makes the request of a declared operation. Gives the answer's JSON. A read that comes too often waits its time and is
 * asked again; a change is left to the person.
 * @template {string} Method
 * @template {string} Path
 * @param {{method: Method, path: Path}} operation
 * @param {Asked} [asked]
 * @returns {Promise<import("wire").Answer<Method, Path>>}
 */
export async function ask(operation, { params = {}, query = {}, ...asked } = {}) {
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(params[name] ?? ""));
  const answer = await request(operation.method, path + queryText(query), asked);
  return /** @type {import("wire").Answer<Method, Path>} */ (answer);
}

/**
 * @template {string} Method
 * @template {string} Path
 * @param {Method} method
 * @param {Path} path
 * @param {Omit<Asked, "params" | "query">} [asked]
 */
export async function request(method, path, { body, reason, signal } = {}) {
  /** @type {Record<string, string>} */
  const more = reason ? { "X-Audit-Log-Reason": asHeader(reason) } : {};
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await provedBy(({ body: proof, sudo }) => {
        const isEmpty = body === undefined && Object.keys(proof).length === 0;
        const whole = /** @type {import("wire").Body<Method, Path>} */ (isEmpty ? undefined : { ...body, ...proof });
        return exchange(method, path, { body: whole, token: current(), sudo, more, ...(signal ? { signal } : {}) });
      });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.status === 401) {
        forget();
        await askToSignIn();
      }
      const seconds = Number(error.body.retry_after);
      const waits = method === "GET" && error.status === 429 && seconds <= PATIENCE_SECONDS && attempt < ATTEMPTS;
      if (!waits) throw error;
      await pause(seconds * 1_000, signal);
    }
  }
}

export async function signOut() {
  const token = current();
  forget();
  if (token !== null) await call("POST", "/v1/auth/logout", { token }).catch(() => null);
  location.assign("/admin/sign-in");
}

// Never settles: the page is being left. The search stands in the fragment and comes along.
/** @returns {Promise<never>} */
function askToSignIn() {
  location.replace(withNext("/admin/sign-in", location.pathname) + location.hash);
  return new Promise(() => {});
}

/**
 * Headers carry bytes: those of UTF-8, one character each.
 * @param {string} text
 */
function asHeader(text) {
  return Array.from(new TextEncoder().encode(text.trim()), (byte) => String.fromCharCode(byte)).join("");
}

/** @param {Query} query */
function queryText(query) {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of [value].flat()) {
      if (one !== undefined && one !== null && one !== "") parameters.append(name, String(one));
    }
  }
  const text = parameters.toString();
  return text === "" ? "" : `?${text}`;
}
