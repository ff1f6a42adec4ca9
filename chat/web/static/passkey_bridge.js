// The browser's end of a passkey bridge: a program waits elsewhere, this page shows a passkey for it.

import "./page.js";
import { ApiError, call } from "./api.js";
import { formById, showStep } from "./dom.js";
import { onSubmit } from "./forms.js";
import { passkeysWorkHere, prove } from "./webauthn.js";

const bridge = new URLSearchParams(location.hash.slice(1)).get("bridge_id");
history.replaceState(null, "", location.pathname);

const at = "/v1/auth/passkey-bridge";

if (bridge === null) {
  showStep("step-expired");
} else if (!passkeysWorkHere()) {
  showStep("step-unable");
} else {
  onSubmit(formById("bridge-form"), async () => {
    try {
      const options = await call("POST", `${at}/authentication-options`, { body: { bridge_id: bridge } });
      const response = await prove(options);
      await call("POST", `${at}/complete`, { body: { bridge_id: bridge, response, challenge: options.challenge } });
      showStep("step-done");
    } catch (error) {
      if (!(error instanceof ApiError) || !error.hasField("INVALID_OR_EXPIRED_TICKET")) throw error;
      showStep("step-expired");
    }
  });
}
