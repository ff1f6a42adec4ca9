// What every page does: the address that passkeys work at, the account corner in the header, passwords that can be shown.

import "./address.js";
import { chosenHere, turnTo } from "./tongue.js";
import { byId } from "./dom.js";
import { offerToShowPasswords } from "./forms.js";
import { current, signOut } from "./session.js";
import { t } from "./spoken.js";

export function showAccount() {
  const session = current();
  byId("account").hidden = session === null;
  byId("account-name").textContent = session?.name || t("Your account");
}

byId("sign-out").addEventListener("click", async () => {
  await signOut();
  location.assign("/login");
});

offerToShowPasswords();
showAccount();
turnTo(chosenHere());
