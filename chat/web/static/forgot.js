// Asking for a reset link. The answer is the same whether or not the address has an account.

import "./page.js";
import { call } from "./api.js";
import { captchaHeaders } from "./captcha.js";
import { byId, findById, showStep } from "./dom.js";
import { onSubmit } from "./forms.js";

const form = findById("forgot-form", HTMLFormElement);
if (form) {
  onSubmit(form, async ({ email }) => {
    await call("POST", "/v1/auth/forgot", { body: { email: email.trim() }, more: await captchaHeaders() });
    byId("sent-to").textContent = email.trim();
    showStep("step-sent");
  });
}
