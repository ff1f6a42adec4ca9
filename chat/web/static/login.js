// Signing in to the pages of one's own account.

import { showAccount } from "./page.js";
import { ApiError, call } from "./api.js";
import { byId, formById, inputIn, say, showStep } from "./dom.js";
import { offerToSignIn } from "./login_form.js";
import { current, forget, nextPath, signOut, withNext } from "./session.js";
import { t } from "./spoken.js";

const query = new URLSearchParams(location.search);

for (const link of document.querySelectorAll("a[data-keeps-next]")) {
  link.setAttribute("href", withNext(link.getAttribute("href") ?? "", query.get("next")));
}

offerToSignIn({
  next: nextPath(),
  stays: () => inputIn(formById("password-form"), "stay").checked,
  done: () => location.replace(nextPath()),
});

if (query.has("changed")) say(t("Your password is changed. Sign in with it."));

/**
 * Who is signed in already goes on to where a page sent him from, or chooses.
 * @param {{token: string, name: string}} session
 */
async function goOn({ token, name }) {
  try {
    await call("GET", "/v1/users/@me", { token });
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
    forget();
    showAccount();
    return;
  }
  if (query.has("next")) location.replace(nextPath());
  byId("known-name").textContent = name;
  byId("go-on").setAttribute("href", nextPath());
  byId("other-account").addEventListener("click", async () => {
    await signOut();
    showAccount();
    showStep("step-password");
  });
  showStep("step-known");
}

const session = current();
if (session !== null) await goOn(session).catch((error) => say(error.message, "bad"));
