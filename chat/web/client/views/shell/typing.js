// Who writes in a channel just now.

import { fill, h } from "../../base/dom.js";
import { tn } from "../../words/catalogue.js";
import { listOf } from "../../words/dates.js";
import { nameOf } from "../names/people.js";

/** @typedef {import("./app.js").App} App */

const NAMED_MAXIMUM = 3;

/**
 * @param {Pick<App, "store" | "now">} app
 * @param {string} channelId
 * @param {string | null} guildId
 */
export function makeTyping({ store, now }, channelId, guildId) {
  const element = h("div", { class: "typing small" });
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  function draw() {
    clearTimeout(timer);
    const people = [...(store.read.typing.get(channelId) ?? [])].filter(
      ([id, until]) => until > now() && id !== store.read.session.me,
    );
    if (people.length === 0) return fill(element);
    timer = setTimeout(draw, Math.min(...people.map(([, until]) => until)) - now());
    const names = people.map(([id]) => nameOf({ store, guildId }, { id, username: "" }));
    if (names.length > NAMED_MAXIMUM) return fill(element, ...tn("typing.many"));
    const value = { n: names.length, names: listOf(names) };
    return fill(element, h("span", { class: "typing-dots", "aria-hidden": "true" }), ...tn("typing.some", value));
  }

  const unwatch = store.watch([`typing:${channelId}`], draw);
  draw();
  return { element, stop: () => (clearTimeout(timer), unwatch()) };
}
