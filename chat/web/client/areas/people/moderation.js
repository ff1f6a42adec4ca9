// What moderators do with a member: time-out, kick, ban, and for administrators the account in the console.

import { h } from "../../base/dom.js";
import { BITS, guildPermissions, outranks } from "../../store/permissions.js";
import { t } from "../../words/catalogue.js";
import { nameOf } from "../../views/names/people.js";

/** @typedef {import("../../views/shell/app.js").App} App */
/** @typedef {import("../../views/shell/menu.js").Entry} Entry */

const MINUTE_S = 60;
const LENGTHS = /** @type {const} */ ([
  [5, () => t("moderation.minutes", { n: 5 })],
  [60, () => t("moderation.hours", { n: 1 })],
  [1440, () => t("moderation.days", { n: 1 })],
  [10080, () => t("moderation.days", { n: 7 })],
]);
const DAY_S = 86_400;
const DELETED_DAYS = [0, 1, 7];
const REASON_MAXIMUM = 512;

/**
 * @param {App} app
 * @param {string | null} guildId
 * @param {string} userId
 * @param {string[] | null} roles What the person has in the guild; null for who is no member.
 * @returns {Entry[]}
 */
export function moderationEntries(app, guildId, userId, roles) {
  const { store } = app;
  const guild = store.read.guilds.get(guildId ?? "");
  const me = store.read.users.get(store.read.session.me);
  /** @type {Entry[]} */
  const entries = [];
  if (guild && outranks(guild, store.read.session.me, userId, roles ?? [])) {
    const mask = guildPermissions(guild, store.read.session.me);
    const name = nameOf({ store, guildId }, { id: userId, username: "" });
    if (roles && mask & BITS.MODERATE_MEMBERS) {
      entries.push({ label: t("moderation.time_out"), icon: "clock", run: () => timeOut(app, guild.id, userId, name) });
    }
    if (roles && mask & BITS.KICK_MEMBERS) {
      entries.push({
        label: t("moderation.kick"),
        icon: "leave",
        kind: "danger",
        run: () => kick(app, guild.id, userId, name),
      });
    }
    if (mask & BITS.BAN_MEMBERS) {
      entries.push({
        label: t("moderation.ban"),
        icon: "ban",
        kind: "danger",
        run: () => ban(app, guild.id, userId, name),
      });
    }
  }
  if ((me?.["acls"]?.length ?? 0) > 0) {
    entries.push({
      label: t("moderation.console"),
      icon: "shield",
      run: () => void open(`/admin/users/${userId}`, "_blank"),
    });
  }
  return entries;
}

/** The reason, which the audit log keeps. */
function reasonField() {
  const field = /** @type {HTMLInputElement} */ (
    h("input", { class: "input", id: "reason", maxlength: String(REASON_MAXIMUM), autocomplete: "off" })
  );
  return { field, row: h("div", { class: "field" }, h("label", { for: "reason" }, t("moderation.reason")), field) };
}

/**
 * @param {string} label
 * @param {readonly (readonly [number, string])[]} choices
 */
function choiceField(label, choices) {
  const field = h("select", { class: "select", id: "choice" });
  for (const [value, words] of choices) field.append(h("option", { value: String(value) }, words));
  return { field, row: h("div", { class: "field" }, h("label", { for: "choice" }, label), field) };
}

/** @param {App} app @param {string} guildId @param {string} userId @param {string} name */
function timeOut({ acts, layers }, guildId, userId, name) {
  const length = choiceField(t("moderation.length"), [
    ...LENGTHS.map(([minutes, words]) => /** @type {const} */ ([minutes, words()])),
    [0, t("moderation.end")],
  ]);
  const reason = reasonField();
  const run = () => {
    const minutes = Number(length.field.value);
    return acts.people.timeOut(guildId, userId, minutes === 0 ? null : minutes * MINUTE_S, reason.field.value);
  };
  layers.dialog({
    title: t("moderation.time_out_title", { name }),
    content: h("div", {}, h("p", { class: "muted" }, t("moderation.time_out_words")), length.row, reason.row),
    actions: [{ label: t("moderation.time_out"), run }],
  });
}

/** @param {App} app @param {string} guildId @param {string} userId @param {string} name */
function kick({ acts, layers }, guildId, userId, name) {
  const reason = reasonField();
  layers.dialog({
    title: t("moderation.kick_title", { name }),
    content: h("div", {}, h("p", { class: "muted" }, t("moderation.kick_words")), reason.row),
    actions: [
      { label: t("moderation.kick"), kind: "danger", run: () => acts.people.kick(guildId, userId, reason.field.value) },
    ],
  });
}

/** @param {App} app @param {string} guildId @param {string} userId @param {string} name */
function ban({ acts, layers }, guildId, userId, name) {
  const days = choiceField(
    t("moderation.delete"),
    DELETED_DAYS.map(
      (n) => /** @type {const} */ ([n * DAY_S, n === 0 ? t("moderation.delete_none") : t("moderation.days", { n })]),
    ),
  );
  const reason = reasonField();
  const run = () => acts.people.ban(guildId, userId, { seconds: Number(days.field.value), reason: reason.field.value });
  layers.dialog({
    title: t("moderation.ban_title", { name }),
    content: h("div", {}, h("p", { class: "muted" }, t("moderation.ban_words")), days.row, reason.row),
    actions: [{ label: t("moderation.ban"), kind: "danger", run }],
  });
}
