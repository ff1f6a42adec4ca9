// Letting a sign-in from a new address in. It takes a click: programs that look through mail open links, too.

import "./page.js";
import { ApiError, call } from "./api.js";
import { formById, showStep, takeFragmentToken } from "./dom.js";
import { onSubmit } from "./forms.js";

const token = takeFragmentToken();
if (token === null) {
  showStep("step-expired");
} else {
  onSubmit(formById("allow-form"), async () => {
    try {
      await call("POST", "/v1/auth/authorize-ip", { body: { token } });
      showStep("step-done");
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 400) throw error;
      showStep("step-expired");
    }
  });
}
