// The commands of applications for one message or one person, in a menu of their own.

import { t } from "../../words/catalogue.js";
import { inLanguage } from "../../views/composer/commands.js";
import { nameOf } from "../../views/names/people.js";
import { askApplication } from "../../views/shell/uses.js";

/** @typedef {import("../../views/shell/menu.js").Anchor} Anchor */
/**
 * @typedef {object} Target
 * @property {2 | 3} type Commands for persons, or for messages.
 * @property {string} targetId Of the person, or the message.
 * @property {string} channelId
 * @property {string | null} guildId
 * @property {Anchor} anchor
 */

/** @param {Target & {app: import("../../views/shell/app.js").App}} parts */
export async function open({ app, type, targetId, channelId, guildId, anchor }) {
  const { store, acts, layers } = app;
  const where = { channelId, guildId };
  // The row that was asked at may be drawn anew while the server is asked.
  const spot = anchor instanceof Element ? anchor.getBoundingClientRect() : anchor;
  const { application_commands: commands, applications } = await acts.interactions.commands(channelId);
  const entries = applications.flatMap((application) => {
    const name = nameOf({ store, guildId }, application.bot);
    return commands
      .filter((command) => command.type === type && command.application_id === application.id)
      .map((command) => {
        const ask = () => acts.interactions.invokeOn(where, command, targetId);
        const run = () => void askApplication(app, guildId, application, ask).catch(app.report);
        return { label: `${inLanguage(command.name, command.name_localizations)} · ${name}`, icon: "code", run };
      });
  });
  if (entries.length === 0) return layers.toast(t("commands.nothing_here"));
  layers.menu(anchor instanceof Element && anchor.isConnected ? anchor : spot, entries, t("commands.apps"));
}
