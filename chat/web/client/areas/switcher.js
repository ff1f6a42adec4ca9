// Ctrl K: any channel, community, person or conversation by a few letters; members of the open guild are asked for.

import { fill, h } from "../base/dom.js";
import { icon } from "../base/icon.js";
import { newsOf } from "../store/unread.js";
import { t } from "../words/catalogue.js";
import { writeTo } from "../views/dialogs/write_to.js";
import { nameOfChannel, signOf } from "../views/names/channels.js";
import { plainName } from "../views/names/people.js";
import { scoreOf } from "../views/names/matching.js";

/** @typedef {import("../views/shell/app.js").App} App */
/**
 * @typedef {{key: string, label: string, also?: string[], more: string, sign: string, weight: number,
 *   go: () => void}} Target `also` are other names of it.
 */

const SHOWN_MAXIMUM = 12;
const FRIEND = 1;
/** After the last letter members are asked for. */
const LOOK_MS = 150;
const OPENED = new Set([0, 1, 2, 3, 5, 10, 11, 12, 15, 16, 999]);

/** @param {{app: App}} parts */
export function open({ app }) {
  const { store, acts } = app;
  const { guildId } = app.place();
  const places = [...channels(app), ...guilds(app)];
  const list = h("ul", {
    role: "listbox",
    id: "switcher-list",
    class: "switcher-list",
    "aria-label": t("keys.switcher"),
  });
  const field = h("input", {
    class: "input",
    role: "combobox",
    "data-first": "",
    autocomplete: "off",
    spellcheck: "false",
  });
  for (const [name, value] of [
    ["aria-controls", "switcher-list"],
    ["aria-expanded", "true"],
    ["aria-autocomplete", "list"],
  ]) {
    field.setAttribute(String(name), String(value));
  }
  field.placeholder = t("switcher.hint");
  field.setAttribute("aria-label", t("keys.switcher"));
  const content = h("div", { class: "switcher" }, field, list);
  const close = app.layers.dialog({ title: t("keys.switcher"), content, onClose: () => unwatch() });
  // Members that were asked for come one by one; what is chosen stays chosen.
  const unwatch = store.watch(guildId === null ? [] : [`guild:${guildId}`], () => draw(shown[at]?.key));
  let timer = 0;
  /** @type {Target[]} */
  let shown = [];
  let at = 0;

  /** @param {string} [kept] The key of what is chosen. */
  function draw(kept) {
    const wanted = field.value.trim().toLowerCase();
    const scored = [...places, ...people(app, wanted !== "")]
      .map((target) => ({ target, score: scoreIn(target, wanted) }))
      .filter(({ score }) => score !== null)
      .map(({ target, score }) => ({ target, score: Number(score) + target.weight }));
    scored.sort((one, other) => other.score - one.score || one.target.label.localeCompare(other.target.label));
    shown = scored.slice(0, SHOWN_MAXIMUM).map(({ target }) => target);
    at = Math.max(
      0,
      shown.findIndex(({ key }) => key === kept),
    );
    show();
  }

  function show() {
    const rows = shown.map((target, index) => {
      const row = h("li", {
        role: "option",
        id: `switch-${index}`,
        class: "switcher-row",
        "aria-selected": String(index === at),
      });
      row.append(
        icon(target.sign),
        h("bdi", { class: "clip" }, target.label),
        h("bdi", { class: "clip meta" }, target.more),
      );
      return row;
    });
    fill(list, ...(rows.length > 0 ? rows : [h("li", { class: "muted switcher-row" }, t("switcher.nothing"))]));
    if (rows.length > 0) field.setAttribute("aria-activedescendant", `switch-${at}`);
    else field.removeAttribute("aria-activedescendant");
    rows[at]?.scrollIntoView({ block: "nearest" });
  }

  /** @param {number} index */
  function choose(index) {
    const target = shown[index];
    if (!target) return;
    close();
    target.go();
  }

  field.addEventListener("input", () => {
    draw();
    clearTimeout(timer);
    if (guildId !== null) timer = setTimeout(() => acts.members.find(guildId, field.value.trim()), LOOK_MS);
  });
  field.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key === "Enter") {
      event.preventDefault();
      choose(at);
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      at = (at + (event.key === "ArrowDown" ? 1 : -1) + shown.length) % Math.max(1, shown.length);
      show();
    }
  });
  list.addEventListener("click", (event) => {
    const row = /** @type {Element} */ (event.target).closest("[role=option]");
    if (row) choose([...list.children].indexOf(row));
  });
  draw();
}

/** What is new comes first, then what was spoken in last. @param {App} app @returns {Target[]} */
function channels({ store, go, now }) {
  return [...store.read.channels.values()]
    .filter(({ type }) => OPENED.has(type))
    .map((channel) => {
      const news = newsOf(store.read, channel, now());
      const guild = store.read.guilds.get(channel.guild_id ?? "");
      return {
        key: channel.id,
        label: nameOfChannel(store.read, channel),
        more: guild ? plainName(guild.properties["name"] ?? "") : t("direct.name"),
        sign: channel.guild_id ? signOf(channel) : "friends",
        weight: Math.min(news.mentions, 1) * 3 + Number(news.isUnread) * 2 + Number(!channel.guild_id),
        go: () => go(`/channels/${channel.guild_id ?? "@me"}/${channel.id}`),
      };
    });
}

/** @param {App} app @returns {Target[]} */
function guilds({ store, go }) {
  return [...store.read.guilds.values()]
    .filter((guild) => !guild.unavailable)
    .map((guild) => ({
      key: guild.id,
      label: plainName(guild.properties["name"] ?? ""),
      more: t("switcher.guild"),
      sign: "globe",
      weight: 1,
      go: () => go(`/channels/${guild.id}`),
    }));
}

/**
 * Friends, and where something is typed members, without a conversation yet.
 * @param {App} app
 * @param {boolean} withMembers
 * @returns {Target[]}
 */
function people({ store, acts, go, report }, withMembers) {
  const { channels, guilds, relationships, session, users } = store.read;
  const known = new Set([session.me]);
  for (const { type, recipients = [] } of channels.values()) {
    if (type === 1) for (const { id } of recipients) known.add(id);
  }
  /** @type {Map<string, Target>} */
  const found = new Map();
  /** @param {string} id @param {string | null} nick @param {string} place */
  const add = (id, nick, place) => {
    const user = users.get(id);
    if (!user || known.has(id) || found.has(id)) return;
    found.set(id, {
      key: id,
      label: plainName(nick || user.global_name || user.username),
      also: [user.username, user.global_name ?? ""],
      more: [plainName(user.username), place].filter((part) => part !== "").join(" \u00b7 "),
      sign: "member",
      weight: 0,
      go: () => void writeTo({ acts, go }, id).catch(report),
    });
  };
  for (const entry of relationships.values()) if (entry["type"] === FRIEND) add(entry["id"], null, "");
  for (const guild of withMembers ? guilds.values() : []) {
    for (const [id, { nick }] of guild.members) add(id, nick, plainName(guild.properties["name"] ?? ""));
  }
  return [...found.values()];
}

/**
 * By its name, else by another one that it has.
 * @param {Target} target
 * @param {string} wanted
 */
function scoreIn({ label, also = [] }, wanted) {
  const scores = [label, ...also].map((name) => scoreOf(name, wanted)).filter((score) => score !== null);
  return scores.length > 0 ? Math.max(...scores) : null;
}
