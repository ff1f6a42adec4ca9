// What somebody sees who is in no community: what there is to do.

import { fill, h } from "../../base/dom.js";
import { icon, iconButton } from "../../base/icon.js";
import { t } from "../../words/catalogue.js";
import { join, make } from "../../views/dialogs/new_guild.js";
import { plainName } from "../../views/names/people.js";

/**
 * @param {object} parts
 * @param {import("../../views/shell/app.js").App} parts.app
 * @param {HTMLElement} parts.ground
 * @param {() => void} parts.back To the list, where one pane is shown.
 * @param {() => boolean} parts.isWanted Still.
 */
export function open({ app, ground, back, isWanted }) {
  if (!isWanted()) return;
  const me = app.store.read.users.get(app.store.read.session.me);
  const name = plainName(me?.global_name || me?.username || "");
  const returns = iconButton("back", t("head.back"), back);
  returns.classList.add("narrow-only");
  const ways = [
    way("invite", t("new_guild.join"), t("welcome.join"), () => join(app)),
    way("add", t("new_guild.make"), t("welcome.make"), () => make(app)),
    way("compass", t("discovery.title"), t("welcome.discover"), () => app.open("discovery")),
    way("friends", t("welcome.friends_title"), t("welcome.friends"), () => app.go("/channels/@me/friends")),
    way("member", t("welcome.profile_title"), t("welcome.profile"), () => app.go("/channels/@me/settings/profile")),
  ];
  fill(
    ground,
    h(
      "main",
      { id: "talk", class: "talk welcome", tabindex: "-1", "data-region": "" },
      h("header", { class: "talk-head" }, returns, h("h1", { class: "clip" }, t("welcome.title", { name }))),
      h("div", { class: "welcome-ways" }, h("p", { class: "muted" }, t("welcome.words")), h("ul", {}, ...ways)),
    ),
  );
}

/** @param {string} sign @param {string} title @param {string} words @param {() => void} press */
function way(sign, title, words, press) {
  const text = h("span", {}, h("strong", {}, title), h("span", { class: "small muted" }, words));
  return h("li", {}, h("button", { type: "button", class: "welcome-way", click: press }, icon(sign), text));
}
