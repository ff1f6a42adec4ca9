// The order of channels, in the list itself: by dragging, and by keys (Shift Space lifts, arrows move).

import { CATEGORY, movedChannels, orderedChannels } from "../../store/channels.js";
import { makeReorder } from "../names/reorder.js";

/** @typedef {import("../../store/shapes.js").Channel} Channel */

/**
 * @param {HTMLElement} rows Each has `data-key`, the id of its channel; what takes part has `data-order`.
 * @param {object} parts
 * @param {import("../shell/app.js").App} parts.app
 * @param {string} parts.guildId
 * @param {() => void} parts.draw
 */
export function makeChannelOrder(rows, { app, guildId, draw }) {
  const { store, acts } = app;

  /**
   * What stands above it in the list now, and what is folded below that, stays above it.
   * @param {number} _
   * @param {number} at
   */
  function move(_, at) {
    const shown = [...rows.querySelectorAll(":scope > [data-order]")].map((one) => keyOf(one));
    const all = orderedChannels(store.read, guildId);
    const from = all.findIndex(({ id }) => id === shown[at]);
    const others = all.filter((_channel, index) => index !== from);
    const before = shown[at - 1];
    const next = shown[at + 1];
    const to = next === undefined ? others.length : others.findIndex(({ id }) => id === next);
    const isAtHead = others[to]?.type === CATEGORY && before !== undefined;
    const place = isAtHead ? lastBelow(others, before) + 1 : to;
    acts.guildSettings
      .moveChannels(guildId, movedChannels(all, from, place))
      .catch(app.report)
      .finally(draw);
  }

  return makeReorder(rows, { move, announce: app.announce });
}

/** @param {Element} row */
function keyOf(row) {
  return row instanceof HTMLElement ? (row.dataset["key"] ?? "") : "";
}

/**
 * Where a channel stands, or the last of those that are folded below a category.
 * @param {Channel[]} all
 * @param {string} id
 */
function lastBelow(all, id) {
  const at = all.findIndex((one) => one.id === id);
  let last = at;
  while (all[last + 1] && all[last + 1]?.parent_id === id) last += 1;
  return last;
}
