// The recovery kit, and leaving: for a while or for good.

import { byId, say } from "./dom.js";
import { Cancelled, confirmed } from "./dialogs.js";
import { onClick } from "./forms.js";
import { forget } from "./session.js";
import { t } from "./spoken.js";
import { proved } from "./sudo.js";

export function showAccountSection() {
  const section = byId("leaving");
  const complain = (error) => say(error.message, error instanceof Cancelled ? "good" : "bad", section);
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

  const kit = byId("kit");
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
      (error) => say(error.message, error instanceof Cancelled ? "good" : "bad", kit),
    );
  }
}

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
