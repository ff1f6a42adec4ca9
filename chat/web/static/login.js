// Signing in: password, then what the account asks for; or a passkey; or single sign-on.

import "./page.js";
import { call } from "./api.js";
import { captchaHeaders } from "./captcha.js";
import { byId, say } from "./dom.js";
import { clearErrors, onClick, onSubmit, showErrors } from "./forms.js";
import { current, nextPath, withNext } from "./session.js";
import { passkeyAnswer, signingIn } from "./signing_in.js";
import { beginSingleSignOn } from "./single_sign_on.js";
import { passkeysWorkHere } from "./webauthn.js";

const next = new URLSearchParams(location.search).get("next");
const arrive = () => location.replace(nextPath());

for (const link of document.querySelectorAll("a[data-keeps-next]")) {
  link.setAttribute("href", withNext(link.getAttribute("href"), next));
}

const form = byId("password-form");
const problem = (error) => (form ? showErrors(form, [{ message: error.message }]) : say(error.message, "bad"));

if (form) {
  const { attempt } = signingIn({ stays: () => form.elements.stay.checked, done: arrive });
  onSubmit(form, async ({ email, username, password }) => {
    const name = email === undefined ? { username: username.trim() } : { email: email.trim() };
    const more = await captchaHeaders();
    return attempt(() => call("POST", "/v1/auth/login", { body: { ...name, password }, more }));
  });
  const button = byId("passkey");
  byId("passkey-choice").hidden = !passkeysWorkHere();
  onClick(
    button,
    async () => {
      clearErrors(form);
      const body = await passkeyAnswer();
      await attempt(() => call("POST", "/v1/auth/webauthn/authenticate", { body }));
    },
    problem,
  );
}

const sso = byId("single-sign-on");
if (sso) onClick(sso, () => beginSingleSignOn(nextPath()), problem);

if (current() !== null) byId("already").hidden = false;
if (new URLSearchParams(location.search).has("changed")) say("Your password is changed. Sign in with it.");
