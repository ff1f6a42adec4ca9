// The account of the person who is signed in: each section in a module of its own.

import "./page.js";
import { showAccountSection } from "./settings_account.js";
import { showApplications } from "./settings_applications.js";
import { byId, showStep } from "./dom.js";
import { showAuthenticator } from "./settings_authenticator.js";
import { showPasskeys } from "./settings_passkeys.js";
import { showProfile } from "./settings_profile.js";
import { showSessions } from "./settings_sessions.js";
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
  showAccountSection();
  showStep("step-settings", { focus: false });
  await Promise.all([showPasskeys(user), showSessions(), showApplications()]);
  if (location.hash !== "") document.getElementById(location.hash.slice(1))?.scrollIntoView();
} catch (error) {
  if (!(error instanceof ApiError)) throw error;
  byId("failure").textContent = error.message;
  showStep("step-failed");
}
