// Sudo mode: what changes how an account is reached asks for a proof first. A password each time for who has nothing
// else; a code or a passkey otherwise, after which the API's token stands for the proof for five minutes. The token is
// kept in this page's memory alone.

import { ApiError } from "./api.js";
import { ask } from "./dialogs.js";
import { byId, formById } from "./dom.js";
import { clearErrors, fieldsOf, onClick, showErrors } from "./forms.js";
import { signedIn, signedInExchange } from "./session.js";
import { t } from "./spoken.js";
import { passkeysWorkHere, prove } from "./webauthn.js";

/**
 * @typedef {object} Proof Members of the body of a request.
 * @property {string} [password]
 * @property {"totp" | "webauthn"} [mfa_method]
 * @property {string} [mfa_code]
 * @property {import("./webauthn.js").Answered} [webauthn_response]
 * @property {string} [webauthn_challenge]
 */
/** @typedef {Pick<import("wire").Error, "has_mfa" | "methods">} Ways What an account can prove itself by. */

const WRONG_PROOFS = ["INVALID_PASSWORD", "INVALID_MFA_CODE"];

/** @type {string | null} */
let token = null;

/**
 * A request that may ask for a proof. Rejects with Cancelled when the person thinks better of it.
 * @template {string} Method
 * @template {string} Path
 * @param {Method} method
 * @param {Path} path
 * @param {import("wire").Body<Method, Path>} [given]
 */
export function proved(method, path, given) {
  return provedBy(({ body, sudo }) => {
    const whole = /** @type {import("wire").Body<Method, Path>} */ ({ .../** @type {object} */ (given), ...body });
    return signedInExchange(method, path, { sudo, body: whole });
  });
}

/**
 * The same around any way of asking: `send({body, sudo})` adds the members of the proof to its body.
 * @template Data
 * @param {(proof: {body: Proof, sudo: string | null}) => Promise<{data: Data, sudo: string | null}>} send
 * @returns {Promise<Data>}
 */
export async function provedBy(send) {
  /** @type {Proof} */
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
        proof = await askForProof(null, error.fields.find(({ code }) => code === wrong)?.message ?? error.message);
      } else {
        throw error;
      }
    }
  }
}

/** @type {Ways} */
let known = {};

/**
 * @param {Ways | null} wanted null: the same as before.
 * @param {string | null} problem
 */
async function askForProof(wanted, problem) {
  if (wanted !== null) known = wanted;
  const { has_mfa: hasFactor = false, methods: ways = {} } = known;
  const form = formById("proof-form");
  const passkey = Boolean(ways.webauthn) && passkeysWorkHere();
  const code = hasFactor && Boolean(ways.totp || ways.backup_codes);
  byId("proof-password-field").hidden = hasFactor;
  byId("proof-code-field").hidden = !code;
  byId("proof-code-label").textContent = ways.totp ? t("Code from your authenticator app, or a backup code") : t("Backup code");
  byId("proof-passkey").hidden = !passkey;
  byId("proof-or").hidden = !(passkey && code);
  byId("proof-send").hidden = hasFactor && !code;
  form.reset();
  clearErrors(form);
  /** @type {Promise<Proof>} */
  const answer = ask(byId("proof", HTMLDialogElement), (settle, signal) => {
    form.addEventListener(
      "submit",
      (event) => {
        event.preventDefault();
        const { password = "", code: given = "" } = fieldsOf(form);
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

/** @type {(proof: Proof) => void} */
let usePasskey = () => {};

const OPTIONS = "/v1/users/@me/sudo/webauthn/authentication-options";

/** @param {(method: "POST", path: typeof OPTIONS) => Promise<import("wire").Answer<"POST", typeof OPTIONS>>} asked */
export function prepareProofs(asked = signedIn) {
  const form = formById("proof-form");
  onClick(
    byId("proof-passkey"),
    async () => {
      clearErrors(form);
      const options = await asked("POST", OPTIONS);
      const response = await prove(options);
      usePasskey({ mfa_method: "webauthn", webauthn_response: response, webauthn_challenge: options.challenge });
    },
    (error) => showErrors(form, [{ message: error.message }]),
  );
}
