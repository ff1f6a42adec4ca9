// Back from the identity provider, with a code to exchange.

import "./page.js";
import { isOfAdministration, keep as keepAdministrator } from "./admin_token.js";
import { ApiError, call } from "./api.js";
import { byId, showStep } from "./dom.js";
import { signingIn } from "./signing_in.js";
import { endSingleSignOn } from "./single_sign_on.js";
import { t } from "./spoken.js";

const answer = new URLSearchParams(location.search);
history.replaceState(null, "", location.pathname);

const code = answer.get("code");
const state = answer.get("state");
const next = endSingleSignOn(state);
const done = () => location.replace(next ?? "/");
const { attempt } = signingIn(isOfAdministration(next) ? { keeps: keepAdministrator, done } : { done });

/** @param {string} text */
function fail(text) {
  byId("failure").textContent = text;
  showStep("step-failed");
}

if (answer.get("error") !== null) {
  const refused = answer.get("error") === "access_denied";
  fail(refused ? t("You cancelled the sign-in.") : t("The identity provider could not sign you in."));
} else if (next === null || code === null || state === null) {
  fail(t("This sign-in was not begun in this tab, or it has been used already."));
} else {
  try {
    await attempt(() => call("POST", "/v1/auth/sso/complete", { body: { code, state } }));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const unknown = error.code === "SSO_REQUIRED";
    fail(unknown ? t("You have no account here, and this instance makes none by itself. Ask its operator.") : error.message);
  }
}
