// Confirming an address by the link of a mail.

import "./page.js";
import { ApiError, call } from "./api.js";
import { byId, showStep, takeFragmentToken } from "./dom.js";
import { current } from "./session.js";

const token = takeFragmentToken();
try {
  if (token === null) throw new ApiError(0, "NO_TOKEN", "");
  await call("POST", "/v1/auth/verify", { body: { token } });
  byId("go-on").hidden = current() === null;
  byId("sign-in").hidden = current() !== null;
  showStep("step-done");
} catch (error) {
  if (!(error instanceof ApiError)) throw error;
  if (error.fields.length === 0 && error.code !== "NO_TOKEN") byId("why").textContent = error.message;
  showStep("step-expired");
}
