// Invites of a guild that hold.

import { h } from "../../base/dom.js";
import { t } from "../../words/catalogue.js";
import { full } from "../../words/dates.js";
import { plainName } from "../../views/names/people.js";
import { listPage } from "./lists.js";

/** @typedef {import("../../views/shell/app.js").App} App */

/** @param {App} app @param {string} guildId */
export function invitesPage(app, guildId) {
  const { guildSettings } = app.acts;
  return listPage(app, {
    load: () => guildSettings.invites(guildId),
    none: t("invites.none"),
    row(invite) {
      const inviter = invite.inviter ? plainName(invite.inviter.global_name || invite.inviter.username) : "";
      const until = invite.expires_at
        ? t("invites.until", { time: full(Date.parse(invite.expires_at)) })
        : t("invites.ever");
      return {
        words: [
          h("code", { class: "clip" }, `${location.origin}/invite/${invite.code}`),
          h("span", { class: "meta" }, t("invites.about", { name: inviter, n: invite.uses ?? 0 }), " \u00b7 ", until),
        ],
        label: t("invites.remove", { code: invite.code }),
        remove: () => guildSettings.deleteInvite(invite.code),
      };
    },
  });
}
