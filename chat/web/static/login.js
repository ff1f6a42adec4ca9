// Signing in to the pages of one's own account.

import "./page.js";
import { byId, say } from "./dom.js";
import { offerToSignIn } from "./login_form.js";
import { current, nextPath, withNext } from "./session.js";
import { t } from "./spoken.js";

const next = new URLSearchParams(location.search).get("next");

for (const link of document.querySelectorAll("a[data-keeps-next]")) {
  link.setAttribute("href", withNext(link.getAttribute("href"), next));
}

offerToSignIn({
  next: nextPath(),
  stays: () => byId("password-form").elements.stay.checked,
  done: () => location.replace(nextPath()),
});

if (current() !== null) byId("already").hidden = false;
if (new URLSearchParams(location.search).has("changed")) say(t("Your password is changed. Sign in with it."));
