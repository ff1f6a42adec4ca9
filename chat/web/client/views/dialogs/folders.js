// Folders of guilds: a guild goes into one or out of it, a folder gets another name or goes.

import { h } from "../../base/dom.js";
import { inFolder, railEntries, renamedFolder } from "../../store/guild_order.js";
import { t } from "../../words/catalogue.js";
import { plainName } from "../names/people.js";

/** @typedef {import("../shell/app.js").App} App */
/** @typedef {import("../shell/menu.js").Entry} Entry */
/** @typedef {import("../../store/guild_order.js").Entry} Place */
/** @typedef {import("../../store/shapes.js").Guild} Guild */

const NAME_LENGTH = 32;

/**
 * Where a guild can be put.
 * @param {App} app
 * @param {Guild} guild
 * @returns {Entry[]}
 */
export function placeEntries(app, guild) {
  const entries = railEntries(app.store.read);
  const folders = entries.flatMap(({ folder }) => folder ?? []);
  const own = folders.find(({ guilds }) => guilds.includes(guild));
  const put = (/** @type {{id: number} | {name: string} | null} */ wanted) =>
    keep(app, inFolder(railEntries(app.store.read), guild, wanted));
  const others = folders.filter((folder) => folder !== own);
  const make = () => ask(app, t("folders.make"), "", (name) => put({ name }));
  return [
    ...others.map(({ id, name }) => ({
      label: t("folders.into", { name: nameOf(name) }),
      icon: "folder",
      run: () => put({ id }),
    })),
    own
      ? { label: t("folders.out"), icon: "folder", run: () => put(null) }
      : { label: t("folders.make"), icon: "folder", run: make },
  ];
}

/**
 * What can be done with a folder from its tile.
 * @param {App} app
 * @param {number} id
 * @returns {Entry[]}
 */
export function folderEntries(app, id) {
  const now = () => railEntries(app.store.read);
  const name = now().find(({ folder }) => folder?.id === id)?.folder?.name ?? "";
  const rename = () => ask(app, t("folders.rename"), name, (next) => keep(app, renamedFolder(now(), id, next)));
  return [
    { label: t("folders.rename"), icon: "edit", run: rename },
    { label: t("folders.dissolve"), icon: "folder", run: () => keep(app, renamedFolder(now(), id, null)) },
  ];
}

/** @param {string | null} name */
function nameOf(name) {
  const plain = plainName(name ?? "");
  return plain === "\u2026" ? t("rail.folder") : plain;
}

/** @param {App} app @param {Place[]} entries */
function keep(app, entries) {
  app.acts.guilds.order(entries).catch(app.report);
}

/** @param {App} app @param {string} title @param {string} value @param {(name: string) => void} run */
function ask({ layers }, title, value, run) {
  const input = h("input", {
    class: "input",
    id: "folder-name",
    maxlength: `${NAME_LENGTH}`,
    autofocus: "",
    dir: "auto",
  });
  input.value = value;
  const content = h("div", { class: "field" }, h("label", { for: "folder-name" }, t("new_guild.name")), input);
  layers.dialog({ title, content, actions: [{ label: t("settings.save"), run: () => run(input.value.trim()) }] });
}
