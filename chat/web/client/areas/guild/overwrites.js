// What is otherwise in one channel: by role, allowed, denied or as in the guild; and what comes of it for a role.

import { fill, h } from "../../base/dom.js";
import { channelPermissionsOf } from "../../store/permissions.js";
import { t } from "../../words/catalogue.js";
import { plainName } from "../../views/names/people.js";
import { field, select } from "./fields.js";
import { PERMISSIONS } from "./permission_words.js";

/** @typedef {import("../../views/shell/app.js").App} App */
/** @typedef {import("../../store/shapes.js").Channel} Channel */
/** @typedef {import("../../store/shapes.js").Role} Role */

const ROLE = 0;

/** @param {App} app @param {string} guildId @param {Channel} channel @param {{roleId: string}} seen With which role. */
export function overwritesOf(app, guildId, channel, seen) {
  const { store, acts } = app;
  const guild = store.read.guilds.get(guildId);
  const roles = [...(guild?.roles.values() ?? [])].sort((one, other) => other.position - one.position);
  const nameOf = (/** @type {Role} */ role) => (role.id === guildId ? t("roles.everybody") : plainName(role.name));
  const who = select(
    roles.map((role) => /** @type {const} */ ([role.id, nameOf(role)])),
    guild?.roles.has(seen.roleId) ? seen.roleId : guildId,
  );
  const rows = h("div", { class: "overwrites" });
  const entries = (PERMISSIONS[2]?.entries ?? []).concat(PERMISSIONS[1]?.entries.slice(4) ?? []);

  function draw() {
    const entry = (channel.permission_overwrites ?? []).find(({ id }) => id === who.value);
    const role = guild?.roles.get(who.value);
    const effective = guild && role ? channelPermissionsOf(guild, channel, [role.id]) : 0n;
    fill(rows, ...entries.map(([bit, words]) => row(bit, words(), entry, effective)));
  }

  /**
   * @param {bigint} bit
   * @param {string} words
   * @param {import("../../store/shapes.js").Overwrite | undefined} entry
   * @param {bigint} effective
   */
  function row(bit, words, entry, effective) {
    const state = BigInt(entry?.allow ?? 0) & bit ? "allow" : BigInt(entry?.deny ?? 0) & bit ? "deny" : "none";
    const choice = select(
      [
        ["none", t("overwrites.none")],
        ["allow", t("overwrites.allow")],
        ["deny", t("overwrites.deny")],
      ],
      state,
    );
    choice.setAttribute("aria-label", words);
    choice.addEventListener("change", () => void keep(bit, choice.value).catch(app.report));
    const result = effective & bit ? t("overwrites.may") : t("overwrites.may_not");
    return h("div", { class: "overwrite-row" }, h("span", {}, words), h("span", { class: "meta" }, result), choice);
  }

  /** @param {bigint} bit @param {string} state */
  function keep(bit, state) {
    const entry = (channel.permission_overwrites ?? []).find(({ id }) => id === who.value);
    const allow = (BigInt(entry?.allow ?? 0) & ~bit) | (state === "allow" ? bit : 0n);
    const deny = (BigInt(entry?.deny ?? 0) & ~bit) | (state === "deny" ? bit : 0n);
    if (allow === 0n && deny === 0n) return acts.guildSettings.clearOverwrite(channel.id, who.value);
    return acts.guildSettings.overwrite(channel.id, who.value, {
      type: ROLE,
      allow: String(allow),
      deny: String(deny),
    });
  }

  who.addEventListener("change", () => ((seen.roleId = who.value), draw()));
  draw();
  return h(
    "section",
    { class: "guild-set-card" },
    h("h2", {}, t("overwrites.title")),
    h("p", { class: "muted" }, t("overwrites.words")),
    field("overwrite-role", t("overwrites.who"), who),
    rows,
  );
}
