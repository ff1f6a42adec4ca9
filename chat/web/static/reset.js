// A new password by the link of a mail.

import "./page.js";
import { ApiError, call } from "./api.js";
import { formById, showStep, takeFragmentToken } from "./dom.js";
import { onSubmit } from "./forms.js";
import { signingIn } from "./signing_in.js";

const token = takeFragmentToken();
const { attempt } = signingIn({ done: () => showStep("step-done") });

// Whether the link still works shows when it is used: asking beforehand would put the token into an address, and into
// the logs of whatever stands before the server.
if (token === null) {
  showStep("step-expired");
} else {
  onSubmit(formById("reset-form"), ({ password }) =>
    attempt(() => call("POST", "/v1/auth/reset", { body: { token, password } })).catch((/** @type {unknown} */ error) => {
      if (!(error instanceof ApiError) || !error.fields.some(({ path }) => path === "token")) throw error;
      showStep("step-expired");
    }),
  );
}
