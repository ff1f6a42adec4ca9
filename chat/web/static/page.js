// What every page does: the account corner in its header, and the passwords that can be shown.

import { byId } from "./dom.js";
import { offerToShowPasswords } from "./forms.js";
import { current, signOut } from "./session.js";

export function showAccount() {
  const session = current();
  byId("account").hidden = session === null;
  byId("account-name").textContent = session?.name ?? "";
}

byId("sign-out").addEventListener("click", async () => {
  await signOut();
  location.assign("/login");
});

offerToShowPasswords();
showAccount();
