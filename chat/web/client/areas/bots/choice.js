// A menu of an application: what can be chosen, found by its name where there is much of it, and how many of it.

import { h } from "../../base/dom.js";
import { t } from "../../words/catalogue.js";
import { sign } from "../../views/messages/components.js";
import { choosable, chosenValues, OF_PEOPLE } from "../../views/names/choices.js";
import { scoreOf } from "../../views/names/matching.js";
import { plainName } from "../../views/names/people.js";

/** @typedef {import("../../views/shell/app.js").App} App */
/** @typedef {import("../../views/names/choices.js").Choosable} Choosable */
/** @typedef {Pick<import("wire").Component, "type" | "id"> & Partial<import("wire").Component>} Menu */

const TEXTS = 3;
/** With more than these a field to search by stands above. */
const FEW = 10;
const SHOWN_MAXIMUM = 50;
/** A word that is still being typed is not asked for. */
const ASK_MS = 150;

/**
 * @param {object} parts
 * @param {App} parts.app
 * @param {Menu} parts.menu
 * @param {string} parts.channelId
 * @param {string | null} parts.guildId
 * @param {readonly Choosable[] | null} parts.chosen What was chosen before; null: as the menu begins.
 * @param {(values: string[], chosen: Choosable[]) => unknown} parts.hand A rejection keeps the dialog open.
 */
export function open({ app, menu, channelId, guildId, chosen, hand }) {
  const { store, acts, layers } = app;
  const place = { store, guildId };
  const [least, most] = [menu.required === false ? 0 : (menu.min_values ?? 1), menu.max_values ?? 1];
  const name = `choice-${menu.id}`;
  const title = menu.placeholder ? plainName(menu.placeholder) : t("components.choose");
  /** @type {Map<string, Choosable>} */
  const taken = new Map((chosen ?? beginning()).map((one) => [one.value, one]));
  const isLong = menu.type !== TEXTS || (menu.options?.length ?? 0) > FEW;
  const search = h("input", { class: "input", type: "search", id: name, autocomplete: "off" });
  const legend = h("legend", { class: "unseen" }, title);
  const list = h("fieldset", { class: "forward-list" }, legend);
  const status = h("p", { class: "hint small", role: "status" });
  const field = h("div", { class: "field" }, h("label", { for: name }, t("components.search")), search);
  const content = h("div", {}, ...(isLong ? [field] : []), list, status);
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  function beginning() {
    const values = new Set(chosenValues(menu));
    return choosable(place, channelId, menu).filter(({ value }) => values.has(value));
  }

  function draw() {
    const wanted = search.value.trim().toLowerCase();
    const scored = choosable(place, channelId, menu)
      .map((one) => ({ one, score: best([one.label.replace(/^[@#]/, ""), one.more], wanted) }))
      .filter(({ score }) => score !== null);
    if (wanted !== "") scored.sort((one, other) => Number(other.score) - Number(one.score));
    const rows = scored.slice(0, SHOWN_MAXIMUM).map(({ one }) => row(one));
    // Those who are chosen stay in sight, whatever is searched for.
    const shown = new Set(scored.slice(0, SHOWN_MAXIMUM).map(({ one }) => one.value));
    const others = [...taken.values()].filter(({ value }) => !shown.has(value)).map(row);
    list.replaceChildren(legend, ...others, ...rows);
    if (others.length + rows.length === 0) list.append(h("p", { class: "muted" }, t("components.nothing")));
    tell();
  }

  function tell() {
    const isRight = taken.size >= least && taken.size <= most;
    const words =
      least === most ? t("components.choose_n", { n: least }) : t("components.choose_up_to", { least, n: most });
    status.textContent = most > 1 || !isRight ? words : "";
    return isRight;
  }

  /** @param {Choosable} one */
  function row(one) {
    const input = h("input", { type: most === 1 ? "radio" : "checkbox", name: `${name}-list`, value: one.value });
    input.checked = taken.has(one.value);
    input.addEventListener("change", () => {
      if (most === 1) taken.clear();
      if (input.checked) taken.set(one.value, one);
      else taken.delete(one.value);
      tell();
    });
    const more = one.more ? [h("bdi", { class: "clip meta" }, one.more)] : [];
    const words = [...sign(one.emoji), h("bdi", { class: "clip" }, one.label), ...more];
    return h("label", { class: menu.type === TEXTS ? "check component-option" : "check" }, input, ...words);
  }

  /** Whoever is not known yet is asked for, and stands in the list when the answer comes. */
  function ask() {
    clearTimeout(timer);
    const word = search.value.trim();
    if (OF_PEOPLE.has(menu.type) && guildId !== null && word !== "") {
      timer = setTimeout(() => acts.members.find(guildId, word), ASK_MS);
    }
  }

  async function finish() {
    if (!tell()) return status.setAttribute("role", "alert"), false;
    await hand([...taken.keys()], [...taken.values()]);
    return undefined;
  }

  search.addEventListener("input", () => (draw(), ask()));
  draw();
  const unwatch = store.watch(guildId === null ? [] : [`guild:${guildId}`], () => OF_PEOPLE.has(menu.type) && draw());
  const onClose = () => (unwatch(), clearTimeout(timer));
  layers.dialog({ title, content, actions: [{ label: t("components.take"), run: finish }], onClose });
}

/**
 * @param {string[]} names
 * @param {string} wanted In lower case.
 */
function best(names, wanted) {
  const scores = names.map((name) => scoreOf(name, wanted)).filter((score) => score !== null);
  return scores.length === 0 ? null : Math.max(...scores);
}
