// Another address: a code from the old one, where it counts, a code from the new one, and a proof that it is oneself.

import { byId, findById, formById, say } from "./dom.js";
import { complainingIn } from "./dialogs.js";
import { clearErrors, onClick, onSubmit } from "./forms.js";
import { signedIn } from "./session.js";
import { t } from "./spoken.js";
import { proved } from "./sudo.js";

const PATH = "/v1/users/@me/email-change";

/** @typedef {(texts: import("./forms.js").Texts) => Promise<void>} Step */
/** @typedef {{ticket: string, original_proof: string, address: string}} Known */

/**
 * `changed` is called with the account once it has its new address.
 * @param {(user: import("wire").PrivateUser) => void} changed
 */
export function offerAddressChange(changed) {
  if (findById("email-change", HTMLElement) === null) return;
  const start = byId("email-change");
  const section = byId("profile");
  const form = formById("email-form");
  /** @type {Known} */
  const known = { ticket: "", original_proof: "", address: "" };
  /** @type {Step} */
  let next = async () => {};

  /**
   * @param {string} address
   * @param {Step} then
   */
  function askForCode(address, then) {
    show(t("We sent a code to {address}.", { address }), true, then);
  }

  /**
   * @param {string} text
   * @param {boolean} wantsCode
   * @param {Step} then
   */
  function show(text, wantsCode, then) {
    byId("email-text").textContent = text;
    byId("email-code-field").hidden = !wantsCode;
    byId("email-new-field").hidden = wantsCode;
    clearErrors(form);
    form.reset();
    form.hidden = false;
    start.hidden = true;
    next = then;
    byId(wantsCode ? "email-code" : "email-new").focus();
  }

  function close() {
    form.hidden = true;
    start.hidden = false;
    start.focus();
  }

  /** @type {Step} */
  async function takeOldCode({ code = "" }) {
    const body = { ticket: known.ticket, code: code.trim() };
    const { original_proof: proof } = await signedIn("POST", `${PATH}/verify-original`, { body });
    known.original_proof = proof;
    askForAddress();
  }

  function askForAddress() {
    show(t("Where may we write to you from now on?"), false, takeAddress);
  }

  /** @type {Step} */
  async function takeAddress({ new_email: address = "" }) {
    known.address = address.trim();
    await signedIn("POST", `${PATH}/request-new`, { body: { ...proofs(), new_email: known.address } });
    askForCode(known.address, takeNewCode);
  }

  /** @type {Step} */
  async function takeNewCode({ code = "" }) {
    const body = { ...proofs(), code: code.trim() };
    const { email_token: token } = await signedIn("POST", `${PATH}/verify-new`, { body });
    const user = await proved("POST", `${PATH}/apply`, { email_token: token });
    const { address } = known;
    close();
    changed(user);
    say(t("Your address is now {address}.", { address }), "good", section);
  }

  const proofs = () => ({ ticket: known.ticket, original_proof: known.original_proof });

  onClick(
    start,
    async () => {
      const started = await signedIn("POST", `${PATH}/start`);
      Object.assign(known, { ticket: started.ticket, original_proof: started.original_proof ?? "" });
      if (started.require_original) askForCode(started.original_email ?? "", takeOldCode);
      else askForAddress();
    },
    complainingIn(section),
  );
  onSubmit(form, (fields) => next(fields));
  byId("email-cancel").addEventListener("click", close);
}
