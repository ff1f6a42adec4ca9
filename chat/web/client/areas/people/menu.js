// What can be done with a person, wherever the person is shown: the same for all places, by what one may.

import { h } from "../../base/dom.js";
import { mayCallPerson } from "../../store/calls.js";
import { mayAskApps } from "../../store/interactions.js";
import { personLevel } from "../../store/person_notices.js";
import { BITS, guildPermissions, outranks } from "../../store/permissions.js";
import { t } from "../../words/catalogue.js";
import { chooseRoles } from "../../views/dialogs/member_roles.js";
import { writeTo } from "../../views/dialogs/write_to.js";
import { enterCall } from "../../views/names/calls.js";
import { nameOf } from "../../views/names/people.js";
import { moderationEntries } from "./moderation.js";

/** @typedef {import("../../views/shell/app.js").App} App */
/** @typedef {import("../../views/shell/menu.js").Entry} Entry */
/** @typedef {import("../../views/shell/menu.js").Anchor} Anchor */
/** @typedef {{app: App, userId: string, guildId: string | null, spot: Anchor}} Who */

const NOTE_MAXIMUM = 256;
const NICK_MAXIMUM = 32;
/** The type of such commands. */
const FOR_PERSONS = 2;
const FRIEND = 1;
const BLOCKED = 2;
const INCOMING = 3;
const OUTGOING = 4;

/** @param {Who} who */
export function open(who) {
  const { app, userId, guildId, spot } = who;
  const name = nameOf({ store: app.store, guildId }, { id: userId, username: "" });
  app.layers.menu(spot, [...meetingEntries(who), null, ...personEntries(who)], name);
}

/** @param {Who} who @returns {Entry[]} */
function meetingEntries({ app, userId, guildId, spot }) {
  const { store } = app;
  const type = store.read.relationships.get(userId)?.["type"];
  const isOther = userId !== store.read.session.me;
  const write = () => told(app, writeTo(app, userId));
  const call = () => told(app, writeTo(app, userId, (id) => enterCall(app, id)));
  const profile = () => app.open("profile", { userId, guildId, anchor: anchorOf(spot) });
  const { mention } = app;
  return entriesOf([
    { label: t("profile.name"), icon: "member", run: profile },
    mention !== null && { label: t("person.mention"), icon: "at", run: () => mention(userId) },
    isOther && type !== BLOCKED && { label: t("profile.write"), icon: "send", run: write },
    app.voice.isThere && mayCallPerson(store.read, userId) && { label: t("call.start"), icon: "phone", run: call },
  ]);
}

/**
 * All but how one meets: what stands in the menu of the card too.
 * @param {Who} who
 * @returns {(Entry | null)[]}
 */
export function personEntries({ app, guildId, userId, spot }) {
  const { store, acts } = app;
  const { me } = store.read.session;
  const type = store.read.relationships.get(userId)?.["type"];
  const isOther = userId !== me;
  const isBot = Boolean(store.read.users.get(userId)?.bot);
  const guild = store.read.guilds.get(guildId ?? "");
  const member = guild?.members.get(userId);
  const mask = guild ? guildPermissions(guild, me) : 0n;
  const mayName =
    guild &&
    member &&
    (isOther
      ? (mask & BITS.MANAGE_NICKNAMES) !== 0n && outranks(guild, me, userId, member.roles)
      : (mask & BITS.CHANGE_NICKNAME) !== 0n);
  const mayGive = guild && member && (mask & BITS.MANAGE_ROLES) !== 0n;
  const notices = () => chooseNotices(app, guildId, userId, spot);
  const give = () => guild && member && chooseRoles(app, guild.id, userId, member.roles);
  const { people } = acts;
  const { channelId, ...place } = app.place();
  const target = { type: FOR_PERSONS, targetId: userId, channelId, guildId, anchor: spot };
  const hasApps = place.guildId === guildId && mayAskApps(store.read, channelId);
  return [
    ...entriesOf([
      isOther && { label: t("person.note"), icon: "edit", run: () => askForNote(app, guildId, userId) },
      isOther && { label: t("account.notifications"), icon: "bell", run: notices },
      mayName && { label: t("person.nick"), icon: "edit", run: () => askForNick(app, guild.id, userId) },
      mayGive && { label: t("settings.roles"), icon: "role", run: give },
    ]),
    null,
    ...entriesOf([
      isOther &&
        !isBot &&
        type === undefined && {
          label: t("profile.befriend"),
          icon: "invite",
          run: () => told(app, people.befriend(userId)),
        },
      type === INCOMING && { label: t("profile.accept"), icon: "check", run: () => told(app, people.accept(userId)) },
      type === FRIEND && { label: t("profile.unfriend"), icon: "leave", run: () => told(app, people.remove(userId)) },
      type === OUTGOING && { label: t("profile.withdraw"), icon: "close", run: () => told(app, people.remove(userId)) },
      isOther &&
        (type === BLOCKED
          ? { label: t("profile.unblock"), icon: "check", run: () => told(app, people.remove(userId)) }
          : { label: t("profile.block"), icon: "ban", run: () => told(app, people.block(userId)) }),
      hasApps && { label: t("commands.apps"), icon: "code", run: () => app.open("bot_menu", target) },
      { label: t("profile.copy_id"), icon: "copy", run: () => told(app, navigator.clipboard.writeText(userId)) },
    ]),
    null,
    ...(isOther ? moderationEntries(app, guildId, userId, member?.roles ?? null) : []),
  ];
}

/** @param {(Entry | false | undefined)[]} entries */
function entriesOf(entries) {
  return entries.filter((entry) => entry !== false && entry !== undefined);
}

/** @param {App} app @param {Promise<unknown>} done */
function told(app, done) {
  done.catch(app.report);
}

/** @param {Anchor} spot */
function anchorOf(spot) {
  return spot instanceof Element ? spot : (document.elementFromPoint(spot.x, spot.y) ?? document.body);
}

/**
 * Which of the person's messages notify.
 * @param {App} app
 * @param {string | null} guildId
 * @param {string} userId
 * @param {Anchor} spot
 */
function chooseNotices(app, guildId, userId, spot) {
  const level = personLevel(app.store.read, userId);
  /** @param {string} label @param {0 | 2 | null} one @returns {Entry} */
  const choice = (label, one) => ({
    label,
    checked: level === one,
    run: () => told(app, app.acts.accountSettings.personNotifications(userId, one)),
  });
  const name = nameOf({ store: app.store, guildId }, { id: userId, username: "" });
  app.layers.menu(
    spot,
    [
      choice(t("person.notices_usual"), null),
      choice(t("notifications.all"), 0),
      choice(t("notifications.nothing"), 2),
    ],
    t("person.notices_of", { name }),
  );
}

/** @param {App} app @param {string | null} guildId @param {string} userId */
function askForNote({ store, acts, layers }, guildId, userId) {
  const field = h("textarea", { class: "input", id: "person-note", rows: "4", maxlength: String(NOTE_MAXIMUM) });
  field.value = store.read.notes.get(userId) ?? "";
  const name = nameOf({ store, guildId }, { id: userId, username: "" });
  layers.dialog({
    title: t("person.note_title", { name }),
    content: h("div", { class: "field" }, h("label", { for: "person-note" }, t("profile.note")), field),
    actions: [{ label: t("panel.save"), run: () => acts.people.note(userId, field.value.trim()) }],
  });
}

/** @param {App} app @param {string} guildId @param {string} userId */
function askForNick({ store, acts, layers }, guildId, userId) {
  const field = h("input", { class: "input", id: "person-nick", maxlength: String(NICK_MAXIMUM), autocomplete: "off" });
  field.value = store.read.guilds.get(guildId)?.members.get(userId)?.nick ?? "";
  const user = store.read.users.get(userId) ?? { id: userId, username: "" };
  field.placeholder = nameOf({ store, guildId: null }, user);
  const hint = h("p", { class: "hint" }, t("person.nick_words"));
  layers.dialog({
    title: t("person.nick_title", { name: nameOf({ store, guildId }, user) }),
    content: h("div", { class: "field" }, h("label", { for: "person-nick" }, t("person.nick")), field, hint),
    actions: [{ label: t("panel.save"), run: () => acts.people.nick(guildId, userId, field.value.trim() || null) }],
  });
}
