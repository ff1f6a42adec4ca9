// Who may use a command, and where: what a guild says of roles, members and channels.

import { fill, h } from "../../base/dom.js";
import { t } from "../../words/catalogue.js";
import { nameOfChannel } from "../../views/names/channels.js";
import { nameOf, plainName } from "../../views/names/people.js";
import { select } from "./fields.js";

/** @typedef {import("../../views/shell/app.js").App} App */
/** @typedef {import("wire").CommandPermission} Rule */

const ROLE = 1;
const MEMBER = 2;
const CHANNEL = 3;
const TEXT_CHANNELS = [0, 2, 5, 15];
const AT_ONCE = 25;
/** The menus of applications in which these are chosen. */
const MENUS = /** @type {const} */ ({ [ROLE]: 6, [MEMBER]: 5, [CHANNEL]: 8 });

/**
 * @param {object} parts
 * @param {App} parts.app
 * @param {string} parts.guildId
 * @param {string} parts.title
 * @param {readonly Rule[]} parts.rules
 * @param {(rules: Rule[]) => Promise<unknown>} parts.save A rejection keeps the dialog open.
 */
export function openRules({ app, guildId, title, rules, save }) {
  const { store, acts, layers } = app;
  /** One less than the guild's id stands for all channels. */
  const everywhere = String(BigInt(guildId) - 1n);
  /** @type {Map<string, Rule>} */
  const said = new Map(rules.map((rule) => [rule.id, rule]));
  const who = h("ul", { class: "guild-set-rows" });
  const where = h("ul", { class: "guild-set-rows" });

  /** @param {string} id @param {Rule["type"]} type */
  function nameFor(id, type) {
    if (id === guildId) return t("roles.everybody");
    if (id === everywhere) return t("bots.all_channels");
    const guild = store.read.guilds.get(guildId);
    if (type === ROLE) return `@${plainName(guild?.roles.get(id)?.name ?? t("bots.gone"))}`;
    const channel = store.read.channels.get(id);
    if (type === CHANNEL) return channel ? `#${nameOfChannel(store.read, channel)}` : t("bots.gone");
    return nameOf({ store, guildId }, { id, username: t("bots.gone") });
  }

  function draw() {
    const others = [...said.values()].filter(({ id }) => id !== guildId && id !== everywhere);
    const persons = others.filter(({ type }) => type !== CHANNEL);
    const places = others.filter(({ type }) => type === CHANNEL);
    fill(who, row(guildId, ROLE), ...persons.map(({ id, type }) => row(id, type)));
    fill(where, row(everywhere, CHANNEL), ...places.map(({ id, type }) => row(id, type)));
  }

  /**
   * What is said of everybody, or of all channels, stands there always; else nothing said is no row.
   * @param {string} id
   * @param {Rule["type"]} type
   */
  function row(id, type) {
    const rule = said.get(id);
    const name = nameFor(id, type);
    const choice = select(
      [
        ["none", t("bots.unsaid")],
        ["allow", t("overwrites.allow")],
        ["deny", t("overwrites.deny")],
      ],
      rule === undefined ? "none" : rule.permission ? "allow" : "deny",
    );
    choice.setAttribute("aria-label", name);
    choice.addEventListener("change", () => {
      if (choice.value === "none") said.delete(id);
      else said.set(id, { id, type, permission: choice.value === "allow" });
    });
    return h("li", { class: "rule" }, h("bdi", { class: "clip panel-words" }, name), choice);
  }

  /** @param {string} words @param {1 | 2 | 3} type */
  function add(words, type) {
    const hand = (/** @type {string[]} */ values) => {
      for (const id of values) if (!said.has(id)) said.set(id, { id, type, permission: true });
      draw();
    };
    const menu = { type: MENUS[type], id: type, max_values: AT_ONCE, channel_types: TEXT_CHANNELS, placeholder: words };
    const press = () => app.open("bot_choice", { menu, channelId: "", guildId, chosen: [], hand });
    const ways = { type: "button", class: "button small-button", "aria-haspopup": "dialog", click: press };
    return h("button", ways, words);
  }

  draw();
  const members = [...said.values()].filter(({ type }) => type === MEMBER).map(({ id }) => id);
  acts.members.know(guildId, members);
  const unwatch = store.watch([`guild:${guildId}`], () => !who.contains(document.activeElement) && draw());
  const content = h(
    "div",
    {},
    h("p", { class: "muted small" }, t("bots.order")),
    h("h3", { class: "rule-head" }, t("bots.persons")),
    who,
    h("div", { class: "rule-adds" }, add(t("bots.add_roles"), ROLE), add(t("bots.add_members"), MEMBER)),
    h("h3", { class: "rule-head" }, t("bots.places")),
    where,
    h("div", { class: "rule-adds" }, add(t("bots.add_channels"), CHANNEL)),
  );
  const run = () => save([...said.values()]);
  layers.dialog({ title, content, actions: [{ label: t("settings.save"), run }], onClose: unwatch });
}
