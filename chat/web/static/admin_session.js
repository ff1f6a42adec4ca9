// Requests of the administrator who is signed in, and what they may do.

import { current, forget } from "./admin_token.js";
import { ApiError, call, exchange } from "./api.js";
import { withNext } from "./session.js";
import { t } from "./spoken.js";
import { provedBy } from "./sudo.js";

const PATIENCE_SECONDS = 20;
const ATTEMPTS = 4;

let me = null;

// Reads who is signed in. Rejects as the API does: 401 leaves the page, 403 is for the caller to tell.
export async function enter() {
  if (current() === null) await askToSignIn();
  me = (await request("GET", "/v1/admin/users/@me")).user;
  return me;
}

export function administrator() {
  return me;
}

export function isOwn(userId) {
  return me.id === userId;
}

export function holds(acl) {
  return me.acls.includes("*") || me.acls.includes(acl);
}

// Which of an operation's ACLs are missing: its entries are names, or lists of names any of which will do.
export function missing(acls) {
  return acls
    .map((entry) => [entry].flat())
    .filter((any) => !any.some(holds))
    .map((any) => any.join(t(" or ")));
}

export function may(operation) {
  return missing(operation.acls).length === 0;
}

// Makes the request of a declared operation ({method, path}); `params` are the members of its path. Gives the answer's
// JSON. A read that comes too often waits its time and is asked again; a change is left to the person.
export function ask(operation, { params = {}, query = {}, body, reason, signal } = {}) {
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(params[name]));
  return request(operation.method, path + queryText(query), { body, reason, signal });
}

export async function request(method, path, { body, reason, signal } = {}) {
  const more = reason ? { "X-Audit-Log-Reason": asHeader(reason) } : {};
  for (let attempt = 1; ; attempt += 1) {
    try {
      const send = ({ body: proof, sudo }) => {
        const whole = body === undefined && Object.keys(proof).length === 0 ? undefined : { ...body, ...proof };
        return exchange(method, path, { body: whole, token: current(), sudo, more, signal });
      };
      return await provedBy(send);
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
function askToSignIn() {
  location.replace(withNext("/admin/sign-in", location.pathname) + location.hash);
  return new Promise(() => {});
}

export function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener("abort", () => (clearTimeout(timer), reject(signal.reason)), { once: true });
  });
}

// Headers carry bytes: those of UTF-8, one character each.
function asHeader(text) {
  return Array.from(new TextEncoder().encode(text.trim()), (byte) => String.fromCharCode(byte)).join("");
}

function queryText(query) {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of [value].flat()) {
      if (one !== undefined && one !== null && one !== "") parameters.append(name, one);
    }
  }
  const text = parameters.toString();
  return text === "" ? "" : `?${text}`;
}
