// Off to the identity provider. Its answer has to carry the state that this tab remembers: a sign-in that somebody else
// began is not finished here.

import { ApiError, call } from "./api.js";
import { t } from "./spoken.js";

const KEY = "single-sign-on";

/** @param {string} next */
export async function beginSingleSignOn(next) {
  const { authorization_url: address, state } = await call("POST", "/v1/auth/sso/start", { body: { redirect_to: next } });
  if (!/^https?:$/.test(new URL(address).protocol)) {
    throw new ApiError(0, "BAD_ADDRESS", t("The identity provider gave an address that cannot be opened."));
  }
  sessionStorage.setItem(KEY, JSON.stringify({ state, next }));
  location.assign(address);
  await new Promise(() => {});
}

/**
 * Where the sign-in was to lead, if this tab began the one with that state; null otherwise. It counts once.
 * @param {string | null} state
 * @returns {string | null}
 */
export function endSingleSignOn(state) {
  const begun = JSON.parse(sessionStorage.getItem(KEY) ?? "null");
  sessionStorage.removeItem(KEY);
  return begun !== null && begun.state === state ? begun.next : null;
}
