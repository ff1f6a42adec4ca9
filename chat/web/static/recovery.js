// A new password by the recovery kit of an account without mail.

import "./page.js";
import { call } from "./api.js";
import { findById, showStep } from "./dom.js";
import { onSubmit } from "./forms.js";
import { signingIn } from "./signing_in.js";

const form = findById("recovery-form", HTMLFormElement);
if (form) {
  const { attempt } = signingIn({ done: () => showStep("step-done") });
  onSubmit(form, ({ username, code, password }) => {
    const body = { username: username.trim(), code: code.trim(), password };
    return attempt(() => call("POST", "/v1/auth/recovery", { body }));
  });
}
