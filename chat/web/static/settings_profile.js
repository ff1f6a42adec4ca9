// Who one is, the address and its confirmation, the password.

import { byId, fill, h, say } from "./dom.js";
import { onClick, onSubmit } from "./forms.js";
import { offerAddressChange } from "./settings_email.js";
import { forget, isStaying, keep, signedIn } from "./session.js";
import { t } from "./spoken.js";
import { proved } from "./sudo.js";

export function showProfile(user) {
  const tag = user.discriminator === "0000" ? user.username : `${user.username}#${user.discriminator}`;
  byId("profile-username").textContent = tag;
  byId("profile-name").textContent = user.global_name || "–";
  showAddress(user);
  offerAddressChange(showAddress);
  onSubmit(byId("password-form"), async ({ new_password: chosen }) => {
    const answer = await proved("PATCH", "/v1/users/@me", { new_password: chosen });
    if (answer?.token) {
      keep({ token: answer.token, user }, isStaying());
      byId("password-form").reset();
      say(t("Your password is changed. Everywhere else you have to sign in anew."), "good", byId("password"));
    } else {
      // A new password ends every session, this one included (signing_in.md, Sign-ins).
      forget();
      location.replace("/login?changed=password");
    }
  });
}

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
      await signedIn("POST", "/v1/auth/verify/resend", { body: {} });
      say(t("A new link is on its way to {email}.", { email: user.email }), "good", section);
    },
    (error) => say(error.message, "bad", section),
  );
  fill(line, user.email, " ", h("span", { class: "tag off" }, t("not confirmed")));
  fill(byId("profile-buttons"), again);
}
