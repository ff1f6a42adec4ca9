// A form that an application opens. What it refuses is said in the form, which stays open with all that was written.

import { ApiError } from "../../../static/api.js";
import { h } from "../../base/dom.js";
import { t } from "../../words/catalogue.js";
import { body } from "../../views/messages/body.js";
import { nameOf, plainName } from "../../views/names/people.js";
import { menuPart, textPart } from "./parts.js";

/** @typedef {import("../../views/shell/app.js").App} App */
/** @typedef {import("wire").Component} Component */
/** @typedef {import("./parts.js").Part} Part */
/** @typedef {{component: Component, part: Part}} Filled */

const ROW = 1;
const TEXT_INPUT = 4;
const TEXT = 10;
const LABEL = 18;
const LONG = 2;
const TEXT_MAXIMUM = 4000;

/**
 * @param {object} parts
 * @param {App} parts.app
 * @param {import("../../acts/interactions.js").Form} parts.form
 * @param {string | null} parts.guildId
 */
export function open({ app, form, guildId }) {
  const place = { store: app.store, guildId };
  const where = { app, channelId: form.channel_id, guildId };
  const name = nameOf(place, form.application.bot);
  /** @type {Filled[]} */
  const filled = [];
  const silent = h("p", { class: "errors", role: "alert", hidden: true }, t("components.silent_name", { name }));

  /**
   * @param {Component} component
   * @param {{label?: string | undefined, description?: string | undefined}} words Of what stands above it.
   * @returns {HTMLElement[]}
   */
  function drawn(component, words) {
    if (component.type === TEXT) return [body(component.content ?? "", place)];
    if (component.type === ROW) return (component.components ?? []).flatMap((one) => drawn(one, {}));
    if (component.type === LABEL) return component.component ? drawn(component.component, component) : [];
    const part = component.type === TEXT_INPUT ? written(component, words) : chosen(component, words);
    filled.push({ component, part });
    return [part.element];
  }

  /** @param {Component} one @param {{label?: string | undefined, description?: string | undefined}} words */
  function written(one, words) {
    return textPart(
      { label: words.label ?? one.label ?? "", hint: words.description, required: one.required !== false },
      {
        isLong: one.style === LONG,
        least: one.min_length ?? 0,
        most: one.max_length ?? TEXT_MAXIMUM,
        value: one.value,
        placeholder: one.placeholder,
      },
    );
  }

  /** @param {Component} one @param {{label?: string | undefined, description?: string | undefined}} words */
  function chosen(one, words) {
    const label = words.label ?? one.placeholder ?? t("components.choose");
    return menuPart(where, { label, hint: words.description, required: one.required !== false }, one);
  }

  /** Whether nothing is missing; else the first that is has the focus. */
  function isWhole() {
    const missing = filled.filter(({ component, part }) => {
      const isMissing = component.required !== false && part.read().length === 0 && component.min_values !== 0;
      part.complain(isMissing ? t("components.required") : null);
      return isMissing;
    });
    missing[0]?.part.focus();
    return missing.length === 0;
  }

  async function send() {
    silent.hidden = true;
    if (!isWhole()) return false;
    const told = filled.map(({ component, part }) => {
      const { type, id, custom_id } = component;
      const values = part.read();
      return { type, id, custom_id, ...(type === TEXT_INPUT ? { value: values[0] ?? "" } : { values }) };
    });
    const { isAnswered } = await app.acts.interactions.submit(form, guildId, told).catch(refused);
    silent.hidden = isAnswered;
    return isAnswered;
  }

  /** What is wrong stands at its part as well. @param {unknown} error @returns {never} */
  function refused(error) {
    for (const wrong of error instanceof ApiError ? error.fields : []) {
      const path = `${wrong["path"]}`;
      const at = filled.find(({ component }) => path.startsWith(`data.components.${component.custom_id}`));
      at?.part.complain(`${wrong["message"] ?? ""}`);
    }
    throw error;
  }

  const from = h("p", { class: "muted small" }, t("components.form_from", { name }));
  const content = h("div", {}, silent, from, ...form.components.flatMap((one) => drawn(one, {})));
  app.layers.dialog({ title: plainName(form.title), content, actions: [{ label: t("components.send"), run: send }] });
}
