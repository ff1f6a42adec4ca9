// Taking an account back: the old address, a new password, and nobody else signed in.

import "./page.js";
import { ApiError, call } from "./api.js";
import { formById, showStep, takeFragmentToken } from "./dom.js";
import { onSubmit } from "./forms.js";
import { signingIn } from "./signing_in.js";

const token = takeFragmentToken();
const { attempt } = signingIn({ done: () => showStep("step-done") });

if (token === null) {
  showStep("step-expired");
} else {
  onSubmit(formById("revert-form"), ({ password }) =>
    attempt(() => call("POST", "/v1/auth/email-revert", { body: { token, password } })).catch((/** @type {unknown} */ error) => {
      if (!(error instanceof ApiError) || !error.fields.some(({ path }) => path === "token")) throw error;
      showStep("step-expired");
    }),
  );
}
