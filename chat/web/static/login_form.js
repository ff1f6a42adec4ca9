// The form that signs in: password, then what the account asks for; or a passkey; or single sign-on.

import { call } from "./api.js";
import { captchaHeaders } from "./captcha.js";
import { byId, findById, say } from "./dom.js";
import { clearErrors, onClick, onSubmit, showErrors } from "./forms.js";
import { passkeyAnswer, signingIn } from "./signing_in.js";
import { beginSingleSignOn } from "./single_sign_on.js";
import { passkeysWorkHere } from "./webauthn.js";

/**
 * @param {{next: string} & Parameters<typeof signingIn>[0]} options `next` is the path that single sign-on comes back to.
 */
export function offerToSignIn({ next, ...rest }) {
  const form = findById("password-form", HTMLFormElement);
  const problem = (/** @type {Error} */ error) => (form ? showErrors(form, [{ message: error.message }]) : say(error.message, "bad"));
  if (form) {
    const { attempt } = signingIn(rest);
    onSubmit(form, async ({ email, username, password }) => {
      const name = email === undefined ? { username: username.trim() } : { email: email.trim() };
      const more = await captchaHeaders();
      return attempt(() => call("POST", "/v1/auth/login", { body: { ...name, password }, more }));
    });
    byId("passkey-choice").hidden = !passkeysWorkHere();
    onClick(
      byId("passkey"),
      async () => {
        clearErrors(form);
        const body = await passkeyAnswer();
        await attempt(() => call("POST", "/v1/auth/webauthn/authenticate", { body }));
      },
      problem,
    );
  }
  const sso = findById("single-sign-on", HTMLElement);
  if (sso) onClick(sso, () => beginSingleSignOn(next), problem);
}
