// Members of a guild: found by name, with their roles.

import { fill, h } from "../../base/dom.js";
import { load } from "../../views/settings/loading.js";
import { t } from "../../words/catalogue.js";
import { chooseRoles } from "../../views/dialogs/member_roles.js";
import { avatarAddress, plainName } from "../../views/names/people.js";
import { field, input } from "./fields.js";

/** @typedef {import("../../views/shell/app.js").App} App */

const PAUSE_MS = 300;

/** @param {App} app @param {string} guildId */
export function membersPage(app, guildId) {
  const { store, acts } = app;
  const search = input({ type: "search" }, "");
  const list = h("ul", { class: "guild-set-rows" });
  const count = h("p", { class: "muted", role: "status" });
  const more = h(
    "button",
    { type: "button", class: "button", hidden: "", click: () => load(app, () => fetch(true)) },
    t("search.more"),
  );
  const element = h(
    "div",
    { class: "guild-set-card" },
    field("member-search", t("members.search"), search),
    count,
    list,
    more,
  );
  /** @type {import("wire").FoundMember[]} */
  let members = [];
  let timer = 0;
  let asked = 0;

  /** @param {boolean} further */
  async function fetch(further) {
    const mine = (asked += 1);
    const found = await acts.guildSettings.members(guildId, search.value.trim(), further ? members.length : 0);
    // Others were asked for meanwhile.
    if (mine !== asked) return;
    members = further ? [...members, ...found.members] : found.members;
    count.textContent = t("members.count", { n: found.total_result_count });
    more.hidden = members.length >= found.total_result_count;
    acts.members.know(guildId, members.map(({ user }) => user.id));
    fill(list, ...members.map(row));
  }

  /** @param {import("wire").FoundMember} member */
  const give = (member) => chooseRoles(app, guildId, member.user.id, member.roles, () => fetch(false));

  /** @param {import("wire").FoundMember} member */
  function row(member) {
    const { user } = member;
    const picture = h("img", { class: "avatar small-avatar", alt: "", width: "32", height: "32", loading: "lazy" });
    picture.src = avatarAddress(user, 80);
    const name = plainName(member.nick || user.global_name || user.username);
    const guild = store.read.guilds.get(guildId);
    const roles = member.roles.map((id) => guild?.roles.get(id)?.name ?? "").filter(Boolean);
    const words = h(
      "span",
      { class: "panel-words" },
      h("bdi", { class: "clip panel-name" }, name),
      h("span", { class: "meta clip" }, roles.map(plainName).join(", ")),
    );
    const roleButton = h(
      "button",
      {
        type: "button",
        class: "button small-button",
        "aria-label": t("members.roles_of", { name }),
        click: () => give(member),
      },
      t("settings.roles"),
    );
    const label = t("profile.of", { name });
    const open = h("button", { type: "button", class: "button small-button", "aria-label": label }, t("profile.name"));
    open.addEventListener("click", () => app.open("profile", { userId: user.id, guildId, anchor: open }));
    return h("li", {}, picture, words, roleButton, open);
  }

  search.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => load(app, () => fetch(false)), PAUSE_MS);
  });
  load(app, () => fetch(false));
  return { element, stop: () => clearTimeout(timer) };
}
