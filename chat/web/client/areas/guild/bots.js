// The commands of a guild's bots, and who may use them.

import { fill, h } from "../../base/dom.js";
import { load } from "../../views/settings/loading.js";
import { t } from "../../words/catalogue.js";
import { inLanguage } from "../../views/composer/commands.js";
import { avatarAddress, nameOf } from "../../views/names/people.js";
import { openRules } from "./command_rules.js";

/** @typedef {import("../../views/shell/app.js").App} App */
/** @typedef {import("wire").ApplicationCommand} Command */
/** @typedef {import("wire").CommandApplication} Application */
/** @typedef {import("wire").GuildCommands} Known */

/** @type {Readonly<Record<number, (command: Command) => {name: string, about: string}>>} by the type of the command */
const SHOWN = {
  1: (command) => ({
    name: `/${inLanguage(command.name, command.name_localizations)}`,
    about: inLanguage(command.description, command.description_localizations),
  }),
  2: (command) => ({ name: inLanguage(command.name, command.name_localizations), about: t("bots.for_persons") }),
  3: (command) => ({ name: inLanguage(command.name, command.name_localizations), about: t("bots.for_messages") }),
};

/** @param {App} app @param {string} guildId */
export function botsPage(app, guildId) {
  const { store, acts } = app;
  const cards = h("div", {}, h("p", { class: "muted" }, t("results.loading")));
  const element = h("div", {}, h("p", { class: "muted guild-set-card" }, t("bots.words")), cards);

  async function draw() {
    const known = await acts.guildSettings.commands(guildId);
    const none = h("p", { class: "muted" }, t("bots.none"));
    fill(cards, ...(known.applications.length > 0 ? known.applications.map((one) => card(one, known)) : [none]));
  }

  /** @param {Application} application @param {Known} known */
  function card(application, known) {
    const name = nameOf({ store, guildId }, application.bot);
    const picture = h("img", { class: "avatar small-avatar", alt: "", width: "32", height: "32", loading: "lazy" });
    picture.src = avatarAddress(application.bot, 80);
    const commands = known.application_commands.filter((command) => command.application_id === application.id);
    const rows = commands.flatMap((command) => {
      const shown = SHOWN[command.type]?.(command);
      return shown ? [row(application, known, { id: command.id, ...shown })] : [];
    });
    const all = row(application, known, { id: application.id, name: t("bots.all"), about: t("bots.all_words") });
    const heading = h("h2", { class: "bot-head" }, picture, h("bdi", { class: "clip" }, name));
    const list = h("ul", { class: "guild-set-rows", "aria-label": name }, all, ...rows);
    return h("section", { class: "guild-set-card" }, heading, list);
  }

  /** @param {Application} application @param {Known} known @param {{id: string, name: string, about: string}} one */
  function row(application, { permissions: said }, { id, name, about }) {
    let rules = said.find((each) => each.id === id && each.application_id === application.id)?.permissions ?? [];
    const changed = h("span", {});
    const tell = () => (changed.textContent = rules.length > 0 ? ` · ${t("bots.changed")}` : "");
    const label = t("bots.who_of", { name });
    const ways = { type: "button", class: "button small-button", "aria-label": label, "aria-haspopup": "dialog" };
    const save = async (/** @type {import("wire").CommandPermission[]} */ next) => {
      ({ permissions: rules } = await acts.guildSettings.setCommand(guildId, application.id, id, next));
      tell();
    };
    const open = () => openRules({ app, guildId, title: label, rules, save });
    const button = h("button", { ...ways, click: open }, t("bots.who"));
    tell();
    return h(
      "li",
      {},
      h(
        "span",
        { class: "panel-words" },
        h("bdi", { class: "clip panel-name" }, name),
        h("span", { class: "meta" }, h("bdi", {}, about), changed),
      ),
      button,
    );
  }

  load(app, draw);
  return { element };
}
