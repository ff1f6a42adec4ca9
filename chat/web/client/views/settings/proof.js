// Sudo mode: what changes how an account is reached asks who is there first. A password each time for who has nothing
// else; a code or a passkey otherwise, after which the API's token stands for the proof for a while.

import { ApiError } from "../../../static/api.js";
import { passkeysWorkHere, prove } from "../../../static/webauthn.js";
import { h } from "../../base/dom.js";
import { field } from "./fields.js";
import { t } from "../../words/catalogue.js";

/** @typedef {import("../../views/shell/app.js").App} App */
/** @typedef {import("../../acts/account_settings.js").Proof} Proof */
/** @typedef {(proof: Proof) => Promise<import("../../acts/account_settings.js").Proved>} Send */

/** @type {WeakMap<App, string>} the token that stands for a proof */
const TOKENS = new WeakMap();

/**
 * Does something that may ask for a proof.
 * @param {App} app
 * @param {Send} send
 * @returns {Promise<boolean>} false where the person thought better of it
 */
export async function proved(app, send) {
  const sudo = TOKENS.get(app);
  try {
    take(app, await send(sudo ? { sudo } : {}));
    return true;
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== "SUDO_MODE_REQUIRED") throw error;
    TOKENS.delete(app);
    return ask(app, send, error.body);
  }
}

/** @param {App} app @param {{sudo: string | null}} answer */
function take(app, { sudo }) {
  if (sudo) TOKENS.set(app, sudo);
}

/**
 * @param {App} app
 * @param {Send} send
 * @param {import("../../../static/api.js").Refused} wanted What the account can prove itself by.
 * @returns {Promise<boolean>}
 */
function ask(app, send, { has_mfa: hasFactor = false, methods = {} }) {
  return new Promise((resolve) => {
    let isDone = false;
    /** @param {Proof["body"]} proof */
    async function attempt(proof) {
      take(app, await send({ body: proof }));
      isDone = true;
    }
    async function byPasskey() {
      const options = await app.acts.accountSettings.passkeyOptions();
      const response = await prove(options);
      await attempt({ mfa_method: "webauthn", webauthn_response: response, webauthn_challenge: options.challenge });
    }
    const byCode = !hasFactor || methods.totp || methods.backup_codes;
    const input = h("input", { class: "input", required: "", autofocus: "" });
    input.type = hasFactor ? "text" : "password";
    input.autocomplete = hasFactor ? "one-time-code" : "current-password";
    const label = hasFactor ? t("proof.code") : t("proof.password");
    const content = h("div", {}, h("p", { class: "muted" }, t("proof.why")));
    if (byCode) content.append(field({ id: "proof", label, input }).element);
    const written = () => {
      if (!input.reportValidity()) return false;
      return attempt(hasFactor ? { mfa_method: "totp", mfa_code: input.value.trim() } : { password: input.value });
    };
    const passkey = hasFactor && methods.webauthn && passkeysWorkHere();
    app.layers.dialog({
      title: t("proof.title"),
      content,
      actions: [
        ...(passkey ? [{ label: t("proof.passkey"), kind: byCode ? PLAIN : undefined, run: byPasskey }] : []),
        ...(byCode ? [{ label: t("proof.confirm"), run: written }] : []),
      ],
      onClose: () => resolve(isDone),
    });
  });
}

const PLAIN = /** @type {const} */ ("plain");
