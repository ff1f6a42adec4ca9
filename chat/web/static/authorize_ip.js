// Letting a sign-in from a new address in. It takes a click: programs that look through mail open links, too.

import "./page.js";
import { call } from "./api.js";
import { byId, showStep, takeFragmentToken } from "./dom.js";
import { onSubmit } from "./forms.js";

const token = takeFragmentToken();
if (token === null) {
  showStep("step-expired");
} else {
  onSubmit(byId("allow-form"), async () => {
    try {
      await call("POST", "/v1/auth/authorize-ip", { body: { token } });
      showStep("step-done");
    } catch (error) {
      if (error.status !== 400) throw error;
      showStep("step-expired");
    }
  });
}
