// Who one is, the address and its confirmation, the password.

import { fill, h } from "../client/base/dom.js";
import { byId, formById, say } from "./dom.js";
import { onClick, onSubmit } from "./forms.js";
import { offerAddressChange } from "./settings_email.js";
import { forget, isStaying, keep, signedIn } from "./session.js";
import { t } from "./spoken.js";
import { proved } from "./sudo.js";

/** @param {import("wire").PrivateUser} user */
export function showProfile(user) {
  const tag = user.discriminator === "0000" ? user.username : `${user.username}#${user.discriminator}`;
  byId("profile-username").textContent = tag;
  byId("profile-name").textContent = user.global_name || "–";
  showAddress(user);
  offerAddressChange(showAddress);
  onSubmit(formById("password-form"), async ({ new_password: chosen }) => {
    const answer = await proved("PATCH", "/v1/users/@me", { new_password: chosen });
    if ("token" in answer && answer.token) {
      keep({ token: answer.token, user }, isStaying());
      formById("password-form").reset();
      say(t("Your password is changed. Everywhere else you have to sign in anew."), "good", byId("password"));
    } else {
      // A new password ends every session, this one included (signing_in.md, Sign-ins).
      forget();
      location.replace("/login?changed=password");
    }
  });
}

/** @param {Pick<import("wire").PrivateUser, "email" | "verified">} user */
function showAddress(user) {
  const section = byId("profile");
  const line = byId("profile-email");
  fill(byId("profile-buttons"));
  if (!user.email) {
    fill(line, "–");
    return;
  }
  if (user.verified) {
    fill(line, user.email, " ", h("span", { class: "tag" }, t("confirmed")));
    return;
  }
  const again = h("button", { type: "button" }, t("Send the link again"));
  onClick(
    again,
    async () => {
      await signedIn("POST", "/v1/auth/verify/resend");
      say(t("A new link is on its way to {email}.", { email: user.email ?? "" }), "good", section);
    },
    (error) => say(error.message, "bad", section),
  );
  fill(line, user.email, " ", h("span", { class: "tag off" }, t("not confirmed")));
  fill(byId("profile-buttons"), again);
}
