// The options of a command, filled in by keys or by hand. What is missing is said before anything is sent.

import { ApiError } from "../../../static/api.js";
import { h } from "../../base/dom.js";
import { t } from "../../words/catalogue.js";
import { inLanguage, nested } from "../../views/composer/commands.js";
import { nameOf } from "../../views/names/people.js";
import { typedPart } from "./combobox.js";
import { fewPart, filePart, menuPart, numberPart, textPart } from "./parts.js";

/** @typedef {import("../../views/shell/app.js").App} App */
/** @typedef {import("../../views/composer/commands.js").Leaf} Leaf */
/** @typedef {import("../../acts/interactions.js").Filled} Filled */
/** @typedef {import("wire").CommandOption} Option */
/** @typedef {import("./parts.js").Part} Part */

const TEXT = 3;
const WHOLE_NUMBER = 4;
const TRUTH = 5;
const NUMBER = 10;
const FILE = 11;
const TEXT_MAXIMUM = 6000;
/** Options that are chosen as in the menu of this type. */
/** @type {Readonly<Record<number, 5 | 6 | 7 | 8>>} */
const MENUS = { 6: 5, 7: 8, 8: 6, 9: 7 };

/**
 * @param {object} parts
 * @param {App} parts.app
 * @param {Leaf} parts.leaf
 * @param {string} parts.channelId
 * @param {string | null} parts.guildId
 */
export function open({ app, leaf, channelId, guildId }) {
  const { interactions } = app.acts;
  const where = { app, channelId, guildId };
  const name = nameOf({ store: app.store, guildId }, leaf.application.bot);
  const silent = h("p", { class: "errors", role: "alert", hidden: true }, t("components.silent_name", { name }));
  const filled = leaf.options.map((option, index) => ({ option, part: partOf(option, index) }));

  /** @param {Option} option @param {number} index @returns {Part} */
  function partOf(option, index) {
    const words = {
      label: inLanguage(option.name, option.name_localizations),
      hint: inLanguage(option.description, option.description_localizations),
      required: option.required === true,
    };
    if (option.type === FILE) return filePart(words);
    const menu = MENUS[option.type];
    if (menu !== undefined) {
      return menuPart(where, words, { type: menu, id: index, channel_types: option.channel_types ?? [] });
    }
    if (option.choices?.length) {
      const rows = option.choices.map((one) => ({
        label: inLanguage(one.name, one.name_localizations),
        value: String(one.value),
      }));
      return fewPart(words, rows);
    }
    if (option.type === TRUTH) {
      return fewPart(words, [
        { label: t("commands.yes"), value: "true" },
        { label: t("commands.no"), value: "false" },
      ]);
    }
    const most = option.max_length ?? TEXT_MAXIMUM;
    if (option.autocomplete) return typedPart(words, most, (value) => offered(option, value));
    if (option.type === TEXT) return textPart(words, { isLong: false, least: option.min_length ?? 0, most });
    const bounds = { isWhole: option.type === WHOLE_NUMBER, least: option.min_value, most: option.max_value };
    return numberPart(words, bounds);
  }

  /**
   * What stands in the fields, as the server takes it.
   * @param {Option | null} typed The one that is being typed.
   * @param {string} value What stands there.
   * @returns {Filled[]}
   */
  function options(typed, value) {
    let number = 0;
    return filled.flatMap(({ option, part }) => {
      if (option === typed) return [{ name: option.name, value, focused: true }];
      const [first] = part.read();
      if (option.type === FILE && first !== undefined) {
        number += 1;
        // Files go when the command is sent.
        return typed === null ? [{ name: option.name, value: String(number - 1) }] : [];
      }
      return first === undefined ? [] : [{ name: option.name, value: valueOf(option, first) }];
    });
  }

  /** @param {Option} option @param {string} value */
  function offered(option, value) {
    return interactions.complete(where, leaf.command, nested(leaf.path, options(option, value)));
  }

  /** Whether nothing is missing; else the first that is has the focus. */
  function isWhole() {
    const missing = filled.filter(({ option, part }) => {
      const isMissing = option.required === true && part.read().length === 0;
      part.complain(isMissing ? t("components.required") : null);
      return isMissing;
    });
    missing[0]?.part.focus();
    return missing.length === 0;
  }

  async function send() {
    silent.hidden = true;
    if (!isWhole()) return false;
    const told = options(null, "");
    const files = filled.map(({ part }) => part.file?.() ?? null).filter((file) => file !== null);
    const outcome = await interactions.invoke(where, leaf.command, nested(leaf.path, told), files).catch((error) => {
      complain(error, told);
      throw error;
    });
    silent.hidden = outcome.isAnswered;
    if (outcome.form) app.open("bot_form", { form: outcome.form, guildId });
    return outcome.isAnswered;
  }

  /** What is wrong stands at its option as well. @param {unknown} error @param {Filled[]} told */
  function complain(error, told) {
    const place = `data.options${".0.options".repeat(leaf.path.length)}.`;
    for (const wrong of error instanceof ApiError ? error.fields : []) {
      const path = `${wrong["path"]}`;
      const at = path.startsWith(place) ? (path.slice(place.length).split(".")[0] ?? "") : "";
      const named = told[Number(at)]?.name ?? at;
      filled.find(({ option }) => option.name === named)?.part.complain(`${wrong["message"] ?? ""}`);
    }
  }

  const about = h("p", { class: "muted small" }, `${leaf.description} · ${name}`);
  app.layers.dialog({
    title: leaf.label,
    content: h("div", {}, silent, about, ...filled.map(({ part }) => part.element)),
    actions: [{ label: t("components.send"), run: send }],
  });
}

/** @param {Option} option @param {string} value */
function valueOf({ type }, value) {
  if (type === WHOLE_NUMBER || type === NUMBER) return Number(value);
  return type === TRUTH ? value === "true" : value;
}
