// Who somebody is: a card beside what was pressed.

import { fill, h } from "../../base/dom.js";
import { icon } from "../../base/icon.js";
import { parse } from "../../text/blocks.js";
import { t } from "../../words/catalogue.js";
import { listOf } from "../../words/dates.js";
import { writeTo } from "../../views/dialogs/write_to.js";
import { drawn } from "../../views/messages/body.js";
import { avatarAddress, plainName, tagOf } from "../../views/names/people.js";
import { presenceDot, presenceOf, presenceWords } from "../../views/names/presence.js";
import { customStatus } from "../../views/names/status.js";
import { personEntries } from "./menu.js";
import { ownOldNames, strangersName } from "./old_name.js";

/** @typedef {import("../../views/shell/app.js").App} App */

const NOTE_MAXIMUM = 256;
const NOTE_MS = 600;
const BLOCKED = 2;
const INCOMING = 3;

/**
 * @param {object} parts
 * @param {App} parts.app
 * @param {string} parts.userId
 * @param {string | null} parts.guildId
 * @param {Element} parts.anchor
 */
export function open({ app, userId, guildId, anchor }) {
  const { store, acts, layers } = app;
  const body = h("div", { class: "card-body" });
  const element = h("div", { class: "profile-card" }, body);
  const close = layers.popover(anchor, element, { label: t("profile.name"), side: "beside", onClose: () => unwatch() });
  /** @typedef {Pick<import("wire").Profile, "mutual_guilds" | "mutual_friends">} Mutual */
  // The page reads members that some profiles have and some have not.
  /** @type {(Mutual & {[member: string]: any}) | null} */
  let profile = null;

  function draw() {
    const user = profile?.user ?? store.read.users.get(userId) ?? { id: userId, username: "", avatar: null };
    const member = memberOf();
    const about = profile?.user_profile ?? {};
    const banner = h("div", { class: "card-banner" });
    if (about.banner) {
      const picture = h("img", { alt: "" });
      picture.src = `/media/banners/${userId}/${about.banner}.webp?size=600`;
      banner.append(picture);
    }
    const colour = about.accent_color ?? about.banner_color;
    if (typeof colour === "number")
      banner.style.setProperty("background-color", `#${colour.toString(16).padStart(6, "0")}`);
    const face = h("img", { class: "avatar big-avatar", alt: "", width: "72", height: "72" });
    face.src = avatarAddress(user, 160);
    const status = statusOf();
    const isCustom = customStatus(presenceOf(store.read, userId, guildId)?.custom_status ?? null).length > 0;
    const holder = h("span", { class: "face-holder" }, face, presenceDot(status, !isCustom));
    const name = plainName(member?.nick || user.global_name || user.username);
    const tag = tagOf(user);
    fill(
      body,
      banner,
      h("div", { class: "card-face" }, holder, buttons(user)),
      h("h2", { tabindex: "-1", "data-first": "" }, h("bdi", {}, name)),
      h(
        "p",
        { class: "small muted" },
        h("bdi", {}, plainName(tag)),
        ...(about.pronouns ? [" \u00b7 ", h("bdi", {}, plainName(about.pronouns))] : []),
      ),
      ...statusLine(status),
      ...(about.bio
        ? [section(t("profile.about"), h("div", { class: "bio body" }, ...drawn(parse(about.bio), { store, guildId })))]
        : []),
      ...oldNames(user),
      ...roles(member),
      ...mutual(),
      ...(userId === store.read.session.me ? [] : [note()]),
    );
  }

  /** What the person is in the guild, if a member. */
  function memberOf() {
    return store.read.guilds.get(guildId ?? "")?.members.get(userId) ?? profile?.guild_member;
  }

  function statusOf() {
    return presenceOf(store.read, userId, guildId)?.status ?? "offline";
  }

  /** @param {string} status */
  function statusLine(status) {
    const custom = customStatus(presenceOf(store.read, userId, guildId)?.custom_status ?? null);
    return [h("p", { class: "small card-status" }, ...(custom.length > 0 ? custom : [presenceWords(status)]))];
  }

  /**
   * @param {string} title
   * @param {Node} content
   */
  function section(title, content) {
    return h("section", { class: "card-section" }, h("h3", { class: "meta" }, title), content);
  }

  /** @param {import("wire").PartialUser} user */
  function oldNames(user) {
    const { claim, old_names: own = [] } = profile ?? {};
    if (guildId === null) return [];
    if (own.length > 0) return [ownOldNames(app, guildId, own)];
    return claim ? [strangersName(app, guildId, user, claim, () => void load(true))] : [];
  }

  /** @param {import("wire").Member} member */
  function roles(member) {
    const guild = store.read.guilds.get(guildId ?? "");
    const held = (member?.roles ?? []).map((id) => guild?.roles.get(id)).filter((role) => role !== undefined);
    if (held.length === 0) return [];
    held.sort((one, other) => other.position - one.position);
    const list = h("ul", { class: "card-roles" });
    for (const role of held) {
      const dot = h("span", { class: "role-dot" });
      if (role.color !== 0) dot.style.setProperty("background-color", `#${role.color.toString(16).padStart(6, "0")}`);
      list.append(h("li", { class: "small" }, dot, h("bdi", { class: "clip" }, plainName(role.name))));
    }
    return [section(t("profile.roles"), list)];
  }

  function mutual() {
    const guilds = (profile?.mutual_guilds ?? [])
      .map((one) => store.read.guilds.get(one.id))
      .filter((guild) => guild !== undefined);
    const friends = profile?.mutual_friends ?? [];
    if (userId === store.read.session.me || guilds.length + friends.length === 0) return [];
    const names = [
      ...guilds.map((guild) => plainName(guild.properties["name"] ?? "")),
      ...friends.map((user) => plainName(user.global_name || user.username)),
    ];
    return [section(t("profile.mutual"), h("p", { class: "small" }, h("bdi", {}, listOf(names))))];
  }

  function note() {
    const field = h("textarea", {
      class: "input note-field",
      rows: "2",
      maxlength: String(NOTE_MAXIMUM),
      placeholder: t("profile.note_hint"),
    });
    field.setAttribute("aria-label", t("profile.note"));
    field.value = store.read.notes.get(userId) ?? "";
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    const keep = () => void acts.people.note(userId, field.value).catch(app.report);
    field.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(keep, NOTE_MS);
    });
    return section(t("profile.note"), field);
  }

  /** @param {import("wire").PartialUser} user */
  function buttons(user) {
    const row = h("div", { class: "card-buttons" });
    if (userId === store.read.session.me) return row;
    const type = store.read.relationships.get(userId)?.["type"];
    const told = (/** @type {Promise<unknown>} */ done) => void done.then(draw, app.report);
    const write = () => (close(), writeTo(app, userId));
    const begin = () => void write().catch(app.report);
    // Nobody can sign in to the account of somebody who was brought along.
    const isReached = !profile?.["claim"];
    if (isReached && type !== BLOCKED) row.append(button(t("profile.write"), "send", begin));
    if (isReached && type === undefined && !user.bot)
      row.append(button(t("profile.befriend"), "invite", () => told(acts.people.befriend(userId))));
    if (type === INCOMING) row.append(button(t("profile.accept"), "check", () => told(acts.people.accept(userId))));
    const more = h(
      "button",
      {
        type: "button",
        class: "icon-button",
        "aria-label": t("message.more"),
        title: t("message.more"),
        "aria-haspopup": "menu",
      },
      icon("more"),
    );
    more.addEventListener("click", () => {
      close();
      const spot = anchor.isConnected ? anchor : document.body;
      layers.menu(spot, personEntries({ app, guildId, userId, spot }), t("profile.name"));
    });
    row.append(more);
    return row;
  }

  const unwatch = store.watch(
    [`user:${userId}`, "relationships"],
    () => !element.contains(document.activeElement) && draw(),
  );
  /** @param {boolean} isAgain What was pressed goes: the focus goes to the name. */
  async function load(isAgain) {
    profile = await acts.people.profile(userId, guildId).catch(() => profile);
    if (!element.isConnected) return;
    draw();
    if (isAgain) /** @type {HTMLElement | null} */ (element.querySelector("[data-first]"))?.focus();
  }

  draw();
  void load(false);
}

/**
 * @param {string} label
 * @param {string} sign
 * @param {() => void} press
 */
function button(label, sign, press) {
  return h("button", { type: "button", class: "button small-button", click: press }, icon(sign), label);
}
