// Another address: a code from the old one, where it counts, a code from the new one, and a proof that it is oneself.

import { byId, say } from "./dom.js";
import { Cancelled } from "./dialogs.js";
import { clearErrors, onClick, onSubmit } from "./forms.js";
import { signedIn } from "./session.js";
import { t } from "./spoken.js";
import { proved } from "./sudo.js";

const PATH = "/v1/users/@me/email-change";

const send = (step, body = {}) => signedIn("POST", `${PATH}/${step}`, { body });

// `changed` is called with the account once it has its new address.
export function offerAddressChange(changed) {
  const begin = byId("email-change");
  if (!begin) return;
  const section = byId("profile");
  const form = byId("email-form");
  const complain = (error) => say(error.message, error instanceof Cancelled ? "good" : "bad", section);
  let known = {};
  let next = null;

  function askForCode(address, then) {
    show(t("We sent a code to {address}.", { address }), true, then);
  }

  function show(text, wantsCode, then) {
    byId("email-text").textContent = text;
    byId("email-code-field").hidden = !wantsCode;
    byId("email-new-field").hidden = wantsCode;
    clearErrors(form);
    form.reset();
    form.hidden = false;
    begin.hidden = true;
    next = then;
    byId(wantsCode ? "email-code" : "email-new").focus();
  }

  function close() {
    form.hidden = true;
    begin.hidden = false;
    known = {};
    begin.focus();
  }

  async function takeOldCode({ code }) {
    const { original_proof: proof } = await send("verify-original", { ticket: known.ticket, code: code.trim() });
    known.original_proof = proof;
    askForAddress();
  }

  function askForAddress() {
    show(t("Where may we write to you from now on?"), false, takeAddress);
  }

  async function takeAddress({ new_email: address }) {
    known.address = address.trim();
    await send("request-new", { ...proofs(), new_email: known.address });
    askForCode(known.address, takeNewCode);
  }

  async function takeNewCode({ code }) {
    const { email_token: token } = await send("verify-new", { ...proofs(), code: code.trim() });
    const user = await proved("POST", `${PATH}/apply`, { email_token: token });
    const { address } = known;
    close();
    changed(user);
    say(t("Your address is now {address}.", { address }), "good", section);
  }

  const proofs = () => ({ ticket: known.ticket, original_proof: known.original_proof });

  onClick(
    begin,
    async () => {
      const started = await send("start");
      known = { ticket: started.ticket, original_proof: started.original_proof };
      if (started.require_original) askForCode(started.original_email, takeOldCode);
      else askForAddress();
    },
    complain,
  );
  onSubmit(form, (fields) => next(fields));
  byId("email-cancel").addEventListener("click", close);
}
