// Sudo mode: what changes how an account is reached asks for a proof first. A password each time for who has nothing
// else; a code or a passkey otherwise, after which the API's token stands for the proof for five minutes. The token is
// kept in this page's memory alone.

import { ApiError } from "./api.js";
import { ask } from "./dialogs.js";
import { byId } from "./dom.js";
import { clearErrors, onClick, showErrors } from "./forms.js";
import { signedIn, signedInExchange } from "./session.js";
import { t } from "./spoken.js";
import { passkeysWorkHere, prove } from "./webauthn.js";

const WRONG_PROOFS = ["INVALID_PASSWORD", "INVALID_MFA_CODE"];

let token = null;

// A request that may ask for a proof. Rejects with Cancelled when the person thinks better of it.
export function proved(method, path, body = {}) {
  return provedBy((more) => signedInExchange(method, path, { ...more, body: { ...body, ...more.body } }));
}

// The same around any way of asking: `send({body, sudo})` adds the members of the proof to its body.
export async function provedBy(send) {
  let proof = {};
  for (;;) {
    try {
      const answer = await send({ body: proof, sudo: token });
      if (answer.sudo) token = answer.sudo;
      return answer.data;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const wrong = "mfa_method" in proof || "password" in proof ? WRONG_PROOFS.find((code) => error.hasField(code)) : null;
      if (error.code === "SUDO_MODE_REQUIRED") {
        token = null;
        proof = await askForProof(error.body, null);
      } else if (wrong) {
        proof = await askForProof(null, error.fields.find(({ code }) => code === wrong).message);
      } else {
        throw error;
      }
    }
  }
}

let methods = { has_mfa: false, methods: {} };

async function askForProof(wanted, problem) {
  if (wanted !== null) methods = wanted;
  const { has_mfa: hasFactor, methods: ways } = methods;
  const form = byId("proof-form");
  const passkey = ways.webauthn && passkeysWorkHere();
  const code = hasFactor && (ways.totp || ways.backup_codes);
  byId("proof-password-field").hidden = hasFactor;
  byId("proof-code-field").hidden = !code;
  byId("proof-code-label").textContent = ways.totp ? t("Code from your authenticator app, or a backup code") : t("Backup code");
  byId("proof-passkey").hidden = !passkey;
  byId("proof-or").hidden = !(passkey && code);
  byId("proof-send").hidden = hasFactor && !code;
  form.reset();
  clearErrors(form);
  const answer = ask(byId("proof"), (settle, signal) => {
    form.addEventListener(
      "submit",
      (event) => {
        event.preventDefault();
        const { password, code: given } = Object.fromEntries(new FormData(form));
        const value = hasFactor ? given.trim() : password;
        if (value === "") return;
        settle(hasFactor ? { mfa_method: "totp", mfa_code: value } : { password: value });
      },
      { signal },
    );
    usePasskey = settle;
  });
  if (problem !== null) showErrors(form, [{ message: problem }]);
  else if (passkey && !code) byId("proof-passkey").focus();
  else byId(hasFactor ? "proof-code" : "proof-password").focus();
  return answer;
}

let usePasskey = () => {};

export function prepareProofs(asked = signedIn) {
  onClick(
    byId("proof-passkey"),
    async () => {
      clearErrors(byId("proof-form"));
      const options = await asked("POST", "/v1/users/@me/sudo/webauthn/authentication-options", { body: {} });
      const response = await prove(options);
      usePasskey({ mfa_method: "webauthn", webauthn_response: response, webauthn_challenge: options.challenge });
    },
    (error) => showErrors(byId("proof-form"), [{ message: error.message }]),
  );
}
