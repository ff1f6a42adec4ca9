// Whose a guild is, and its end. Both ask who is there first.

import { h } from "../../base/dom.js";
import { t } from "../../words/catalogue.js";
import { nameOf, plainName } from "../../views/names/people.js";
import { proved } from "../../views/settings/proof.js";
import { field, input } from "./fields.js";

/** @typedef {import("../../views/shell/app.js").App} App */

/** @param {App} app @param {string} guildId */
export function ownershipPage(app, guildId) {
  const { store, acts, layers } = app;
  const { guildSettings } = acts;
  const named = () => plainName(store.read.guilds.get(guildId)?.properties["name"] ?? "");
  const search = input({ autocomplete: "off" }, "");
  const found = h("ul", { class: "guild-set-rows" });
  const none = h("p", { class: "muted", role: "status" });
  const give = h("form", {}, field("new-owner", t("ownership.search"), search), found, none);
  give.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      const { members } = await guildSettings.members(guildId, search.value.trim(), 0);
      const others = members.filter(isPossible);
      found.replaceChildren(...others.map(row));
      none.textContent = others.length > 0 ? "" : t("ownership.none");
    } catch (error) {
      app.report(error);
    }
  });
  give.append(h("button", { type: "submit", class: "button" }, t("head.search")));

  /** @param {import("wire").FoundMember} member */
  function isPossible({ user }) {
    return user.id !== store.read.session.me && !user.bot;
  }

  /** @param {import("wire").FoundMember} member */
  function row({ user, nick }) {
    const name = nick ? plainName(nick) : nameOf({ store, guildId }, user);
    const label = t("ownership.give_to", { name });
    const press = () => transfer(user.id, name);
    const button = h("button", {
      type: "button",
      class: "button small-button danger",
      "aria-label": label,
      click: press,
    });
    button.append(t("ownership.give"));
    return h("li", {}, h("bdi", { class: "panel-words" }, name), button);
  }

  /** @param {string} userId @param {string} name */
  function transfer(userId, name) {
    const run = () => settled(proved(app, (proof) => guildSettings.transfer(guildId, userId, proof)));
    layers.dialog({
      title: t("ownership.give_title", { name, guild: named() }),
      content: h("p", {}, t("ownership.give_words")),
      actions: [{ label: t("ownership.give"), kind: "danger", run: () => void run() }],
    });
  }

  function remove() {
    const run = () => settled(proved(app, (proof) => guildSettings.remove(guildId, proof)));
    layers.dialog({
      title: t("ownership.delete_title", { name: named() }),
      content: h("p", {}, t("ownership.delete_words")),
      actions: [{ label: t("ownership.delete"), kind: "danger", run: () => void run() }],
    });
  }

  /** @param {Promise<boolean>} done */
  async function settled(done) {
    try {
      if (await done) app.go("/channels/@me");
    } catch (error) {
      app.report(error);
    }
  }

  const element = h(
    "div",
    {},
    h(
      "section",
      { class: "guild-set-card" },
      h("h2", {}, t("ownership.give")),
      h("p", { class: "muted" }, t("ownership.give_words")),
      give,
    ),
    h(
      "section",
      { class: "guild-set-card" },
      h("h2", {}, t("ownership.delete")),
      h("p", { class: "muted" }, t("ownership.delete_words")),
      h("button", { type: "button", class: "button danger", click: remove }, t("ownership.delete")),
    ),
  );
  return { element };
}
