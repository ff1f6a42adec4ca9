// A new password by the recovery kit of an account without mail.

import "./page.js";
import { call } from "./api.js";
import { byId, showStep } from "./dom.js";
import { onSubmit } from "./forms.js";

const form = byId("recovery-form");
if (form) {
  onSubmit(form, async ({ username, code, password }) => {
    await call("POST", "/v1/auth/recovery", { body: { username: username.trim(), code: code.trim(), password } });
    showStep("step-done");
  });
}
