// What a person does with the components of a message: presses and choices go to the application, and what becomes of
// them is told.

import { t } from "../../words/catalogue.js";
import { nested } from "../composer/commands.js";
import { componentBy } from "../messages/components.js";
import { nameOf } from "../names/people.js";

/** @typedef {import("./app.js").App} App */
/** @typedef {import("../../store/shapes.js").Message} Message */
/** @typedef {import("wire").Component} Component */

const BUTTON = 2;
/** After this the person is told that somebody is being asked. */
const SLOW_MS = 700;

/**
 * Ask an application, and tell the person when that takes time, and when nothing comes.
 * @param {App} app
 * @param {string | null} guildId
 * @param {import("wire").CommandApplication} application
 * @param {() => Promise<import("../../acts/interactions.js").Outcome>} ask
 */
export async function askApplication(app, guildId, application, ask) {
  const name = nameOf({ store: app.store, guildId }, application.bot);
  const slow = setTimeout(() => app.layers.toast(t("commands.waiting", { name })), SLOW_MS);
  try {
    const outcome = await ask();
    if (outcome.form) app.open("bot_form", { form: outcome.form, guildId });
    if (!outcome.isAnswered) app.layers.toast(t("components.silent_name", { name }));
  } finally {
    clearTimeout(slow);
  }
}

/**
 * @param {object} parts
 * @param {App} parts.app
 * @param {string} parts.channelId
 * @param {string | null} parts.guildId
 */
export function makeUses({ app, channelId, guildId }) {
  const { store, acts } = app;

  /**
   * @param {Message} message
   * @param {Component} component
   * @param {string[]} [values]
   */
  async function use(message, component, values) {
    const outcome = await acts.interactions.use(message, guildId, component, values);
    if (outcome.form) app.open("bot_form", { form: outcome.form, guildId });
    if (outcome.isAnswered) return;
    app.announce(t("components.silent_name", { name: nameOf({ store, guildId }, message.author) }));
  }

  /** A command that asks for nothing more. @param {import("../composer/commands.js").Leaf} leaf */
  function send({ command, application, path }) {
    const ask = () => acts.interactions.invoke({ channelId, guildId }, command, nested(path, []));
    return askApplication(app, guildId, application, ask);
  }

  return {
    /** @param {import("../composer/commands.js").Leaf} leaf */
    invoke(leaf) {
      if (leaf.options.length === 0) return void send(leaf).catch(app.report);
      app.open("bot_command", { leaf, channelId, guildId });
    },
    /**
     * @param {Message} message
     * @param {HTMLElement} source The button, or the menu.
     */
    run(message, source) {
      if (source.ariaBusy === "true") return;
      const component = componentBy(message.components ?? [], source.dataset["custom"] ?? "");
      if (component === undefined) return;
      if (component.type === BUTTON) return void use(message, component).catch(app.report);
      const hand = (/** @type {string[]} */ values) => use(message, component, values);
      app.open("bot_choice", { menu: component, channelId: message.channel_id, guildId, chosen: null, hand });
    },
  };
}
