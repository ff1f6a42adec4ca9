// How the person signs in, and what has access to the account: each section in a module of its own. All else that an
// account has to choose, its sessions and leaving included, stands in the client.

import "./page.js";
import { showApplications } from "./settings_applications.js";
import { byId, showStep } from "./dom.js";
import { showAuthenticator } from "./settings_authenticator.js";
import { offerRecoveryKit } from "./settings_kit.js";
import { showPasskeys } from "./settings_passkeys.js";
import { showProfile } from "./settings_profile.js";
import { ApiError } from "./api.js";
import { askToSignIn, current, signedIn } from "./session.js";
import { prepareProofs } from "./sudo.js";
import { chosenHere, turnTo } from "./tongue.js";

/** What an account has whose person chose none. */
const DEFAULT_LOCALE = "en-US";

if (current() === null) await askToSignIn();

try {
  const [user, settings] = await Promise.all([
    signedIn("GET", "/v1/users/@me"),
    signedIn("GET", "/v1/users/@me/settings"),
  ]);
  if (chosenHere() === null && settings.locale !== DEFAULT_LOCALE) turnTo(settings.locale);
  prepareProofs();
  byId("administration").hidden = !user.acls?.some((acl) => acl === "*" || acl === "admin:authenticate");
  showProfile(user);
  showAuthenticator(user);
  offerRecoveryKit();
  showStep("step-settings", { focus: false });
  await Promise.all([showPasskeys(user), showApplications()]);
  if (location.hash !== "") document.getElementById(location.hash.slice(1))?.scrollIntoView();
} catch (error) {
  if (!(error instanceof ApiError)) throw error;
  byId("failure").textContent = error.message;
  showStep("step-failed");
}
