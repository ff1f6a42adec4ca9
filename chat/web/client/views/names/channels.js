// What channels are called and which sign they have.

import { rowOf } from "../../words/dates.js";
import { plainName } from "./people.js";

/** @typedef {import("../../store/shapes.js").Channel} Channel */
/** @typedef {import("../../store/shapes.js").State} State */

/** @type {Readonly<Record<number, string>>} */
const SIGNS = {
  0: "hash",
  2: "voice",
  5: "megaphone",
  10: "thread",
  11: "thread",
  12: "lock",
  15: "forum",
  16: "picture",
  998: "link",
};

/** @param {Channel} channel */
export function signOf(channel) {
  return SIGNS[channel["type"]] ?? "hash";
}

/**
 * The people of a conversation besides the account itself.
 * @param {State} state
 * @param {Channel} channel
 */
export function othersOf(state, channel) {
  const ids = (channel.recipients ?? []).map(({ id }) => id).filter((id) => id !== state.session.me);
  return (ids.length > 0 ? ids : [state.session.me]).map(
    (id) => state.users.get(id) ?? { id, username: "", global_name: null, avatar: null },
  );
}

/**
 * @param {State} state
 * @param {Channel} channel
 * @returns {string}
 */
export function nameOfChannel(state, channel) {
  if (channel.name) return plainName(channel.name);
  const names = othersOf(state, channel).map((user) => plainName(user.global_name || user.username || ""));
  return rowOf(names);
}
