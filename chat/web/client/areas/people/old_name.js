// What a card says of a person of an import, who has no account here; and of old names in the card of oneself.

import { h } from "../../base/dom.js";
import { BITS, guildPermissions } from "../../store/permissions.js";
import { t } from "../../words/catalogue.js";
import { plainName } from "../../views/names/people.js";

/** @typedef {import("../../views/shell/app.js").App} App */
/** @typedef {import("wire").PartialUser} User */

/**
 * @param {App} app
 * @param {string} guildId
 * @param {User} user
 * @param {"open" | "requested"} claim Whether one has asked for the name.
 * @param {() => void} changed
 */
export function strangersName(app, guildId, user, claim, changed) {
  const { acts, layers, report, store } = app;
  const name = plainName(user.global_name || user.username);
  if (claim === "requested") {
    const back = () => void acts.oldNames.release(guildId, user.id).then(changed, report);
    return h(
      "div",
      { class: "card-section" },
      h("p", { class: "small" }, t("old_names.requested")),
      button(t("profile.withdraw"), back),
    );
  }
  const guild = store.read.guilds.get(guildId);
  const isManager = guild && (guildPermissions(guild, store.read.session.me) & BITS.MANAGE_GUILD) !== 0n;
  const run = async () => {
    const now = await acts.oldNames.claim(guildId, user.id);
    layers.toast(now.claimed_by ? t("old_names.yours", { name }) : t("old_names.asked", { name }));
  };
  const ask = () =>
    layers.dialog({
      title: t("old_names.mine_title", { name }),
      content: h(
        "p",
        { class: "muted" },
        isManager ? t("old_names.mine_at_once", { name }) : t("old_names.mine_words", { name }),
      ),
      actions: [{ label: t("old_names.mine"), run }],
    });
  return h(
    "div",
    { class: "card-section" },
    h("p", { class: "small" }, t("old_names.no_account")),
    button(t("old_names.mine"), ask),
  );
}

/**
 * @param {App} app
 * @param {string} guildId
 * @param {readonly User[]} names Those whom one has claimed.
 */
export function ownOldNames(app, guildId, names) {
  const { acts, layers } = app;
  const rows = names.map((user) => {
    const name = plainName(user.global_name || user.username);
    const run = async () => {
      await acts.oldNames.release(guildId, user.id);
      layers.toast(t("old_names.given_back", { name }));
    };
    const ask = () =>
      layers.dialog({
        title: t("old_names.give_back_of", { name }),
        content: h("p", { class: "muted" }, t("old_names.give_back_own", { name })),
        actions: [{ label: t("old_names.give_back"), kind: "danger", run }],
      });
    const back = button(t("old_names.give_back"), ask);
    back.setAttribute("aria-label", t("old_names.give_back_of", { name }));
    return h("li", {}, h("bdi", { class: "clip" }, name), back);
  });
  return h(
    "section",
    { class: "card-section" },
    h("h3", { class: "meta" }, t("old_names.title")),
    h("ul", { class: "card-old-names" }, ...rows),
  );
}

/** @param {string} label @param {() => void} press */
function button(label, press) {
  return h("button", { type: "button", class: "button small-button", click: press }, label);
}
