// The recovery kit, and leaving: for a while or for good.

import { byId, findById } from "./dom.js";
import { complainingIn, confirmed } from "./dialogs.js";
import { onClick } from "./forms.js";
import { forget } from "./session.js";
import { t } from "./spoken.js";
import { proved } from "./sudo.js";

export function showAccountSection() {
  const section = byId("leaving");
  const complain = complainingIn(section);
  leave(byId("account-disable"), complain, "/v1/users/@me/disable", {
    title: t("Disable your account?"),
    text: t("You are signed out everywhere. Signing in again brings it back."),
    action: t("Disable"),
  });
  leave(byId("account-delete"), complain, "/v1/users/@me/delete", {
    title: t("Delete your account?"),
    text: t("You are signed out everywhere, and after a while the account is gone for good. Until then, signing in brings it back."),
    action: t("Delete"),
  });

  const kit = findById("kit", HTMLElement);
  if (kit) {
    onClick(
      byId("kit-make"),
      async () => {
        await confirmed({
          title: t("Make a recovery kit?"),
          text: t("An older kit stops working."),
          action: t("Make a kit"),
        });
        const answer = await proved("POST", "/v1/users/@me/recovery-kit");
        byId("kit-code").textContent = answer.code;
        byId("kit-shown").hidden = false;
      },
      complainingIn(kit),
    );
  }
}

/**
 * @param {HTMLElement} button
 * @param {ReturnType<typeof complainingIn>} complain
 * @param {"/v1/users/@me/disable" | "/v1/users/@me/delete"} path
 * @param {{title: string, text: string, action: string}} question
 */
function leave(button, complain, path, question) {
  onClick(
    button,
    async () => {
      await confirmed(question);
      await proved("POST", path);
      forget();
      location.replace("/login");
    },
    complain,
  );
}
