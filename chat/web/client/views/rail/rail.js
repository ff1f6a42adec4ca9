// The guilds of the account, with what is new in each.

import { h } from "../../base/dom.js";
import { icon } from "../../base/icon.js";
import { keyed } from "../../base/keyed.js";
import { spotOf } from "../../base/spot.js";
import { moved, railEntries } from "../../store/guild_order.js";
import { ALL } from "../../store/store.js";
import { newsByGuild } from "../../store/unread.js";
import { t } from "../../words/catalogue.js";
import { faceOf } from "../names/guilds.js";
import { plainName } from "../names/people.js";
import { folderEntries } from "../dialogs/folders.js";
import { guildEntries } from "../dialogs/guild_menu.js";
import { askForGuild } from "../dialogs/new_guild.js";
import { makeReorder } from "../names/reorder.js";

/** @typedef {import("../shell/app.js").App} App */
/** @typedef {import("../../store/unread.js").News} News */
/** @typedef {import("../../store/shapes.js").Guild} Guild */
/** @typedef {import("../../store/guild_order.js").Entry} Entry */

const NOTHING = { isUnread: false, mentions: 0 };
const BADGE_MAXIMUM = 99;
/** Which folders are open, in this browser. */
const OPENED = "open-folders";

/** @param {App} app */
export function makeRail(app) {
  const { store, acts } = app;
  const home = tile("/channels/@me", t("rail.home"), icon("inbox"));
  const guilds = h("ul", { class: "rail-guilds", "aria-label": t("rail.guilds") });
  const more = h(
    "button",
    {
      type: "button",
      class: "tile plain-tile",
      "aria-label": t("rail.add"),
      title: t("rail.add"),
      click: () => askForGuild(app, more),
    },
    icon("add"),
  );
  const element = h("nav", { class: "rail", "aria-label": t("rail.name"), tabindex: "-1", "data-region": "" });
  element.append(home, h("hr"), guilds, more);
  /** @type {Map<string, News>} */
  let news = newsByGuild(store.read, app.now());
  /** @type {string | null} */
  let here = null;
  /** @type {Entry[]} */
  let entries = [];
  /** @type {Set<string>} */
  const opened = new Set(keptFolders());
  const reorder = makeReorder(guilds, { move, announce: app.announce });

  /** @param {number} from @param {number} to */
  function move(from, to) {
    acts.guilds
      .order(moved(entries, from, to))
      .catch(app.report)
      .finally(draw);
  }

  function draw() {
    if (reorder.isHolding()) return;
    entries = railEntries(store.read);
    mark(home, "@me", here === null);
    keyed(guilds, entries, ({ key }) => key, make, update);
  }

  /** @param {Entry} entry */
  function make(entry) {
    const row = h("li", { "data-order": "", draggable: "true" });
    row.append(entry.guild ? guildTile(entry.guild) : folderTile(entry.folder));
    update(row, entry);
    return row;
  }

  /**
   * @param {Element} row
   * @param {Entry} entry
   */
  function update(row, entry) {
    if (entry.guild) return settle(/** @type {HTMLElement} */ (row.firstElementChild), entry.guild);
    const { folder } = entry;
    const [head, inner] = /** @type {HTMLElement[]} */ ([...row.children]);
    const isOpen = opened.has(entry.key);
    const name = plainName(folder.name ?? "");
    if (head) head.title = name === "\u2026" ? t("rail.folder") : name;
    head?.setAttribute("aria-expanded", String(isOpen));
    const sum = folder.guilds.map(({ id }) => news.get(id) ?? NOTHING);
    if (head)
      badge(head, {
        isUnread: sum.some((one) => one.isUnread),
        mentions: sum.reduce((all, one) => all + one.mentions, 0),
      });
    if (!inner || !head) return undefined;
    inner.ariaLabel = head.title;
    inner.hidden = !isOpen;
    return keyed(
      inner,
      isOpen ? folder.guilds : [],
      ({ id }) => id,
      (guild) => h("li", {}, guildTile(guild)),
      (item, guild) => settle(/** @type {HTMLElement} */ (item.firstElementChild), guild),
    );
  }

  /** @param {Guild} guild */
  function guildTile(guild) {
    const link = tile(`/channels/${guild.id}`, "", "");
    link.dataset["guild"] = guild.id;
    settle(link, guild);
    return link;
  }

  /** @param {import("../../store/guild_order.js").Folder} folder */
  function folderTile(folder) {
    const key = `folder:${folder.id}`;
    const press = () => {
      if (!opened.delete(key)) opened.add(key);
      localStorage.setItem(OPENED, JSON.stringify([...opened]));
      draw();
    };
    const head = h("button", { type: "button", class: "tile plain-tile", click: press }, icon("folder"));
    head.dataset["folder"] = `${folder.id}`;
    const parts = document.createDocumentFragment();
    parts.append(head, h("ul", { class: "rail-folder" }));
    return parts;
  }

  /**
   * @param {HTMLElement} link
   * @param {Guild} guild
   */
  function settle(link, guild) {
    const name = guild.unavailable ? t("rail.unavailable") : plainName(guild.properties["name"]);
    const picture = guild.properties["icon"] ?? "";
    const face = `${name}/${picture}/${guild.unavailable}`;
    if (link.dataset["face"] !== face) {
      link.dataset["face"] = face;
      link.title = name;
      link.querySelector(".face")?.replaceChildren(guild.unavailable ? icon("warning") : faceOf(guild.properties));
    }
    mark(link, guild.id, here === guild.id);
  }

  /**
   * @param {HTMLElement} link
   * @param {string} key
   * @param {boolean} isHere
   */
  function mark(link, key, isHere) {
    if (isHere) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
    badge(link, news.get(key) ?? NOTHING);
  }

  /**
   * @param {HTMLElement} link
   * @param {News} its
   */
  function badge(link, { isUnread, mentions }) {
    link.classList.toggle("unread", isUnread);
    const words = [link.title, mentions > 0 ? t("rail.mentions", { n: mentions }) : isUnread ? t("rail.unread") : ""];
    link.setAttribute("aria-label", words.filter((part) => part !== "").join(", "));
    const known = link.querySelector(".badge");
    if (mentions === 0) return known?.remove();
    const shown = mentions > BADGE_MAXIMUM ? `${BADGE_MAXIMUM}+` : `${mentions}`;
    if (known) known.textContent = shown;
    else link.append(h("span", { class: "badge", "aria-hidden": "true" }, shown));
  }

  /** @param {ReadonlySet<string>} topics */
  function heard(topics) {
    const isListChanged =
      topics.has("guilds") || topics.has("me") || [...topics].some((topic) => topic.startsWith("guild:"));
    const isNewsChanged = [...topics].some((topic) => /^(?:read|channel|channels|guilds|relationships):?/.test(topic));
    if (isNewsChanged || isListChanged) news = newsByGuild(store.read, app.now());
    if (isNewsChanged || isListChanged) draw();
  }

  element.addEventListener("click", (event) => {
    const link = /** @type {HTMLAnchorElement | null} */ (/** @type {Element} */ (event.target).closest("a.tile"));
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    app.go(new URL(link.href).pathname);
  });
  element.addEventListener("contextmenu", (event) => {
    const target = /** @type {Element} */ (event.target);
    const link = /** @type {HTMLElement | null} */ (target.closest("[data-guild], [data-folder]"));
    if (!link) return;
    event.preventDefault();
    const spot = spotOf(event, link);
    const { guild, folder } = link.dataset;
    app.layers.menu(spot, guild ? guildEntries(app, guild) : folderEntries(app, Number(folder)), link.title);
  });
  store.watch([ALL], heard);
  draw();

  return {
    element,
    /** @param {string | null} guildId Where the person is. */
    here(guildId) {
      here = guildId;
      draw();
    },
  };
}

/** @returns {string[]} */
function keptFolders() {
  try {
    return JSON.parse(localStorage.getItem(OPENED) ?? "[]");
  } catch {
    return [];
  }
}

/**
 * @param {string} path
 * @param {string} name
 * @param {Node | string} face
 */
function tile(path, name, face) {
  const link = h("a", { class: "tile", href: path, "aria-label": name, draggable: "false" });
  link.title = name;
  link.append(
    h("span", { class: "pill", "aria-hidden": "true" }),
    h("span", { class: "face", "aria-hidden": "true" }, face),
  );
  return link;
}
