// The form of a new account (`new_account` in templates/_fields.html), which is signed in at once.

import { call } from "./api.js";
import { captchaHeaders } from "./captcha.js";
import { inputIn } from "./dom.js";
import { onSubmit } from "./forms.js";
import { signingIn } from "./signing_in.js";

/**
 * `done(address)` is called with the email address, or "", once the account is made and its session is kept.
 * @param {HTMLFormElement} form
 * @param {(address: string) => unknown} done
 */
export function offerToRegister(form, done) {
  let address = "";
  const { attempt } = signingIn({ stays: () => true, done: () => done(address) });
  onSubmit(form, async ({ email, username, global_name, password }) => {
    address = email?.trim() ?? "";
    const given = { email: address, username: username.trim(), global_name: global_name.trim() };
    const body = { password, consent: true, ...Object.fromEntries(Object.entries(given).filter(([, text]) => text !== "")) };
    const more = await captchaHeaders();
    return attempt(() => call("POST", "/v1/auth/register", { body, more }));
  });
  suggestUsername(inputIn(form, "global_name"), inputIn(form, "username"));
}

/**
 * @param {HTMLInputElement} name
 * @param {HTMLInputElement} username
 */
function suggestUsername(name, username) {
  name.addEventListener("change", async () => {
    if (name.value.trim() === "" || username.value !== "") return;
    const body = { global_name: name.value.trim() };
    const answer = await call("POST", "/v1/auth/username-suggestions", { body }).catch(() => null);
    if (username.value === "") username.value = answer?.suggestions[0] ?? "";
  });
}
