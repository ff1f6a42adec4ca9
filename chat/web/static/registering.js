// The form of a new account (`new_account` in templates/_fields.html), which is signed in at once.

import { call } from "./api.js";
import { captchaHeaders } from "./captcha.js";
import { onSubmit } from "./forms.js";
import { signingIn } from "./signing_in.js";

// `done(address)` is called with the email address, or "", once the account is made and its session is kept.
export function offerToRegister(form, done) {
  let address = "";
  const { attempt } = signingIn({ stays: () => true, done: () => done(address) });
  onSubmit(form, async ({ email, username, global_name, password }) => {
    address = email?.trim() ?? "";
    const body = { password, consent: true };
    if (address !== "") body.email = address;
    if (username.trim() !== "") body.username = username.trim();
    if (global_name.trim() !== "") body.global_name = global_name.trim();
    const more = await captchaHeaders();
    return attempt(() => call("POST", "/v1/auth/register", { body, more }));
  });
  suggestUsername(form.elements.global_name, form.elements.username);
}

function suggestUsername(name, username) {
  name.addEventListener("change", async () => {
    if (name.value.trim() === "" || username.value !== "") return;
    const body = { global_name: name.value.trim() };
    const answer = await call("POST", "/v1/auth/username-suggestions", { body }).catch(() => null);
    if (username.value === "" && answer?.suggestions?.length > 0) username.value = answer.suggestions[0];
  });
}
