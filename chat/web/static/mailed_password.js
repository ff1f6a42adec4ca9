// A new password by the link of a mail. Whether the link still works shows when it is used: asking beforehand would put
// the token into an address, and into the logs of whatever stands before the server.

import { ApiError, call } from "./api.js";
import { formById, showStep, takeFragmentToken } from "./dom.js";
import { onSubmit } from "./forms.js";
import { signingIn } from "./signing_in.js";

/**
 * @param {string} form its id
 * @param {"/v1/auth/reset" | "/v1/auth/email-revert"} path
 */
export function takePassword(form, path) {
  const token = takeFragmentToken();
  const { attempt } = signingIn({ done: () => showStep("step-done") });
  if (token === null) return showStep("step-expired");
  onSubmit(formById(form), ({ password }) =>
    attempt(() => call("POST", path, { body: { token, password } })).catch((/** @type {unknown} */ error) => {
      if (!(error instanceof ApiError) || !error.fields.some((field) => field.path === "token")) throw error;
      showStep("step-expired");
    }),
  );
}
