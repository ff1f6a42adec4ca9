// Who is banned from a guild.

import { h } from "../../base/dom.js";
import { t } from "../../words/catalogue.js";
import { plainName } from "../../views/names/people.js";
import { listPage } from "./lists.js";

/** @typedef {import("../../views/shell/app.js").App} App */

/** @param {App} app @param {string} guildId */
export function bansPage(app, guildId) {
  const { guildSettings } = app.acts;
  return listPage(app, {
    load: () => guildSettings.bans(guildId),
    none: t("bans.none"),
    row({ user, reason }) {
      const name = plainName(user.global_name || user.username);
      return {
        words: [
          h("bdi", { class: "clip panel-name" }, name),
          h("span", { class: "meta clip" }, h("bdi", {}, reason ?? t("bans.no_reason"))),
        ],
        label: t("bans.lift", { name }),
        remove: () => guildSettings.lift(guildId, user.id),
      };
    },
  });
}
