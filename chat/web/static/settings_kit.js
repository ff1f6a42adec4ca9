// The recovery kit, where people sign in with usernames.

import { byId, findById } from "./dom.js";
import { complainingIn, confirmed } from "./dialogs.js";
import { onClick } from "./forms.js";
import { t } from "./spoken.js";
import { proved } from "./sudo.js";

export function offerRecoveryKit() {
  const kit = findById("kit", HTMLElement);
  if (!kit) return;
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
