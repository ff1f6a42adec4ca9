// A new password by the link of a mail.

import "./page.js";
import { call } from "./api.js";
import { byId, showStep, takeFragmentToken } from "./dom.js";
import { onSubmit } from "./forms.js";
import { signingIn } from "./signing_in.js";

const token = takeFragmentToken();
const { attempt } = signingIn({ done: () => showStep("step-done") });

const isAlive = async () => (await call("GET", `/v1/auth/reset/${encodeURIComponent(token)}`)).valid;

if (token === null || !(await isAlive().catch(() => true))) {
  showStep("step-expired");
} else {
  showStep("step-password", { focus: false });
  onSubmit(byId("reset-form"), ({ password }) =>
    attempt(() => call("POST", "/v1/auth/reset", { body: { token, password } })).catch((error) => {
      if (!error.fields?.some(({ path }) => path === "token")) throw error;
      showStep("step-expired");
    }),
  );
}
