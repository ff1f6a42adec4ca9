// What every page does: the address that passkeys work at, the account corner in the header, passwords that can be shown.

import { byId } from "./dom.js";
import { offerToShowPasswords } from "./forms.js";
import { current, signOut } from "./session.js";

// Browsers give no passkeys to IP addresses. An instance on this machine is therefore used under its name, whichever way
// somebody came; the fragment goes along, and sessions lie in one place. The page that is left does nothing more.
const LOOPBACK = ["127.0.0.1", "[::1]"];
if (document.body.dataset.relyingParty === "localhost" && LOOPBACK.includes(location.hostname)) {
  const named = new URL(location.href);
  named.hostname = "localhost";
  location.replace(named);
  await new Promise(() => {});
}

export function showAccount() {
  const session = current();
  byId("account").hidden = session === null;
  byId("account-name").textContent = session?.name || "Your account";
}

byId("sign-out").addEventListener("click", async () => {
  await signOut();
  location.assign("/login");
});

offerToShowPasswords();
showAccount();
