// Commands of the applications in a channel: what stands behind the slash.

import { locale } from "../../words/catalogue.js";
import { avatarAddress, nameOf, plainName } from "../names/people.js";

/** @typedef {import("wire").ApplicationCommand} Command */
/** @typedef {import("wire").CommandOption} Option */
/** @typedef {import("wire").ChannelCommands} Commands */
/**
 * @typedef {object} Leaf A command, or a sub-command, that can be invoked.
 * @property {Command} command
 * @property {import("wire").CommandApplication} application
 * @property {string[]} path The names of the group and the sub-command.
 * @property {string} label As it is shown: `/garden water`.
 * @property {string} description
 * @property {readonly Option[]} options
 */

const BEHIND_SLASH = 1;
const SUB_COMMAND = 1;
const GROUP = 2;

/**
 * Words in the person's language, where the application has them.
 * @param {string} words
 * @param {Record<string, string> | null | undefined} others
 */
export function inLanguage(words, others) {
  const [language = ""] = locale().split("-");
  return plainName(others?.[locale()] ?? others?.[language] ?? words);
}

/**
 * All that can be invoked.
 * @param {Commands} known
 * @returns {Leaf[]}
 */
export function leavesOf({ application_commands: commands, applications }) {
  return commands
    .filter(({ type }) => type === BEHIND_SLASH)
    .flatMap((command) => {
      const application = applications.find(({ id }) => id === command.application_id);
      if (!application) return [];
      const label = `/${inLanguage(command.name, command.name_localizations)}`;
      const description = inLanguage(command.description, command.description_localizations);
      return below({ command, application, path: [], label, description, options: command.options ?? [] });
    });
}

/** @param {Leaf} leaf @returns {Leaf[]} */
function below(leaf) {
  const holding = leaf.options.filter(({ type }) => type === SUB_COMMAND || type === GROUP);
  if (holding.length === 0) return [leaf];
  return holding.flatMap((option) =>
    below({
      ...leaf,
      path: [...leaf.path, option.name],
      label: `${leaf.label} ${inLanguage(option.name, option.name_localizations)}`,
      description: inLanguage(option.description, option.description_localizations),
      options: option.options ?? [],
    }),
  );
}

/**
 * Options in the groups and sub-commands that they belong to.
 * @param {readonly string[]} path
 * @param {import("../../acts/interactions.js").Filled[]} options
 * @returns {import("../../acts/interactions.js").Filled[]}
 */
export function nested(path, options) {
  return path.reduceRight((held, name) => [{ name, options: held }], options);
}

/**
 * @param {import("./candidates.js").Where} where
 * @param {readonly Leaf[]} leaves
 * @returns {import("./completion_rules.js").Candidate[]}
 */
export function commandCandidates(where, leaves) {
  return leaves.map((leaf) => ({
    label: leaf.label,
    more: `${leaf.description} · ${nameOf(where, leaf.application.bot)}`,
    insert: "",
    picture: avatarAddress(leaf.application.bot, 48),
    words: [leaf.label.slice(1), [leaf.command.name, ...leaf.path].join(" ")],
    run: () => where.invoke(leaf),
  }));
}
