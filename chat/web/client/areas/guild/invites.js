// Invites of a guild that hold.

import { h } from "../../base/dom.js";
import { t } from "../../words/catalogue.js";
import { full } from "../../words/dates.js";
import { plainName } from "../../views/names/people.js";
import { field, input } from "./fields.js";
import { listPage } from "./lists.js";

/** @typedef {import("../../views/shell/app.js").App} App */

/** @param {App} app @param {string} guildId */
export function invitesPage(app, guildId) {
  const { guildSettings } = app.acts;
  const features = app.store.read.guilds.get(guildId)?.properties["features"] ?? [];
  return listPage(app, {
    above: features.includes("VANITY_URL") ? [customCode(app, guildId)] : [],
    load: () => guildSettings.invites(guildId),
    none: t("invites.none"),
    row(invite) {
      const inviter = invite.inviter ? plainName(invite.inviter.global_name || invite.inviter.username) : "";
      const until = invite.expires_at
        ? t("invites.until", { time: full(Date.parse(invite.expires_at)) })
        : t("invites.ever");
      const { placeholder } = invite;
      const whose = placeholder ? plainName(placeholder.global_name || placeholder.username) : "";
      return {
        words: [
          h("code", { class: "clip" }, `${location.origin}/invite/${invite.code}`),
          h("span", { class: "meta" }, t("invites.about", { name: inviter, n: invite.uses ?? 0 }), " \u00b7 ", until),
          ...(placeholder ? [h("span", { class: "meta" }, t("invites.takes_over", { name: whose }))] : []),
        ],
        label: t("invites.remove", { code: invite.code }),
        remove: () => guildSettings.deleteInvite(invite.code),
      };
    },
  });
}

/** The guild's own word in an invite's address. @param {App} app @param {string} guildId */
function customCode({ acts, layers, report }, guildId) {
  const { guildSettings } = acts;
  // Nothing can be typed until the code of now stands there: it would be written over.
  const code = input({ maxlength: "32", pattern: "[A-Za-z0-9\\-]+", spellcheck: "false", disabled: "" }, "");
  const form = h("form", { class: "emoji-form" });
  form.append(
    field("vanity", t("invites.code"), code, t("invites.code_hint", { address: `${location.origin}/invite/\u2026` })),
    h("button", { type: "submit", class: "button" }, t("panel.save")),
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      await guildSettings.setVanity(guildId, code.value.trim() || null);
      layers.toast(t("invites.code_kept"));
    } catch (error) {
      report(error);
    }
  });
  guildSettings.vanity(guildId).then((found) => {
    code.value = found.code ?? "";
    code.disabled = false;
  }, report);
  return form;
}
