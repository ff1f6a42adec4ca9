// From a password, a passkey or a new password to a session: the second factor and the wait for a mailed link lie on
// the way where the API asks for them. Pages include `_steps.html`, whose sections these are.

import { fill } from "../client/base/dom.js";
import { pause } from "../client/base/pause.js";
import { ApiError, call } from "./api.js";
import { buttonById, byId, formById, inputById, showStep } from "./dom.js";
import { clearErrors, onClick, onSubmit, showErrors } from "./forms.js";
import { keep } from "./session.js";
import { t } from "./spoken.js";
import { passkeysWorkHere, prove } from "./webauthn.js";

const POLL_MS = 3_000;

/** @typedef {{token: string, user?: import("./session.js").Named | null}} SignedIn */
/** @typedef {import("wire").MfaChallenge} Challenge */
/** @typedef {SignedIn | Challenge | import("wire").AwaitsApproval} Outcome */

/**
 * @param {object} parts
 * @param {() => boolean} [parts.stays] Whether the session outlives the tab.
 * @param {(answer: SignedIn) => void} [parts.keeps] May put it elsewhere than where the pages look for it.
 * @param {(answer: SignedIn) => unknown} parts.done Is called with the token response, once kept.
 */
export function signingIn({ stays = () => true, keeps = (answer) => keep(answer, stays()), done }) {
  let ticket = "";

  /**
   * `send` makes the request that may sign in; whatever is not one of the two detours is thrown.
   * @param {() => Promise<Outcome>} send
   */
  async function attempt(send) {
    let outcome;
    try {
      outcome = await send();
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== "IP_AUTHORIZATION_REQUIRED") throw error;
      await waitForMail(error.body);
      return;
    }
    if ("token" in outcome) await finish(outcome);
    else if ("mfa" in outcome) askForSecondFactor(outcome);
    else if ("registration_pending_approval" in outcome) showStep("step-approval");
  }

  /** @param {SignedIn} answer */
  async function finish(answer) {
    keeps(answer);
    await done(answer);
  }

  /** @param {Challenge} challenge */
  function askForSecondFactor(challenge) {
    ticket = challenge.ticket;
    const passkey = challenge.webauthn && passkeysWorkHere();
    byId("factor-passkey").hidden = !passkey;
    byId("factor-or").hidden = !passkey;
    askForBackupCode(!challenge.totp);
    byId("factor-other").hidden = !challenge.totp;
    showStep("step-factor");
  }

  /** @param {boolean} backup */
  function askForBackupCode(backup) {
    const input = inputById("factor-code");
    input.value = "";
    input.inputMode = backup ? "text" : "numeric";
    input.autocomplete = backup ? "off" : "one-time-code";
    input.dataset["missing"] = backup ? t("Enter one of your backup codes.") : t("Enter the code from your app.");
    byId("factor-code-label").textContent = backup ? t("Backup code") : t("Code from your authenticator app");
    byId("factor-code-hint").textContent = backup
      ? t("One of the ten codes that you kept, like 3fk2-9xqa. Each works once.")
      : t("Six digits; a new code every half minute.");
    const other = byId("factor-other");
    other.textContent = backup ? t("Use the code from your app") : t("Lost your phone? Use a backup code");
    other.dataset["backup"] = String(backup);
  }

  /** @param {import("./api.js").Refused} refused */
  async function waitForMail({ ticket: waiting = "", email, resend_available_in: seconds }) {
    fill(byId("waiting-address"), email ?? t("your address"));
    byId("waiting-again").hidden = true;
    byId("waiting-state").textContent = t("Waiting for you to open the link …");
    showStep("step-waiting");
    offerToMailAgain(waiting, seconds ?? 30);
    for (;;) {
      await pause(POLL_MS);
      let poll;
      try {
        poll = await call("GET", `/v1/auth/ip-authorization/poll?${new URLSearchParams({ ticket: waiting })}`);
      } catch (error) {
        if (error instanceof ApiError && (error.status === 0 || error.status === 429 || error.status >= 500)) continue;
        byId("waiting-state").textContent = t("This sign-in has expired. Start again to get a new link.");
        byId("waiting-resend").hidden = true;
        byId("waiting-again").hidden = false;
        return;
      }
      if (poll.completed) return finish(poll);
    }
  }

  /**
   * @param {string} waiting
   * @param {number} seconds
   */
  function offerToMailAgain(waiting, seconds) {
    const button = buttonById("waiting-resend");
    button.hidden = true;
    setTimeout(() => (button.hidden = false), seconds * 1_000);
    button.onclick = async () => {
      button.hidden = true;
      try {
        await call("POST", "/v1/auth/ip-authorization/resend", { body: { ticket: waiting } });
        byId("waiting-state").textContent = t("Sent again. Waiting for you to open the link …");
      } catch (error) {
        byId("waiting-state").textContent = /** @type {Error} */ (error).message;
      }
    };
  }

  const form = formById("factor-form");
  onSubmit(form, ({ code }) => {
    const backup = byId("factor-other").dataset["backup"] === "true";
    const given = backup ? code.trim() : code.replaceAll(/\s/g, "");
    return attempt(() => call("POST", "/v1/auth/login/mfa/totp", { body: { ticket, code: given } }));
  });
  byId("factor-other").addEventListener("click", () => {
    clearErrors(form);
    askForBackupCode(byId("factor-other").dataset["backup"] !== "true");
    byId("factor-code").focus();
  });
  onClick(
    byId("factor-passkey"),
    async () => {
      clearErrors(form);
      const options = await call("POST", "/v1/auth/login/mfa/webauthn/authentication-options", { body: { ticket } });
      const response = await prove(options);
      const body = { ticket, response, challenge: options.challenge };
      await attempt(() => call("POST", "/v1/auth/login/mfa/webauthn", { body }));
    },
    (error) => showErrors(form, [{ message: error.message }]),
  );

  return { attempt };
}

// Signing in with a passkey that the browser finds by itself.
export async function passkeyAnswer() {
  const options = await call("POST", "/v1/auth/webauthn/authentication-options");
  const response = await prove(options);
  return { response, challenge: options.challenge };
}
