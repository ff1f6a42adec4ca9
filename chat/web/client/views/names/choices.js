// What can be chosen in a menu of an application, or for an option of its commands: texts that it names, people, roles,
// channels.

import { nameOfChannel } from "./channels.js";
import { nameOf, plainName, tagOf } from "./people.js";

/** @typedef {import("wire").Component} Component */
/** @typedef {import("./people.js").Place} Place */
/**
 * @typedef {object} Choosable
 * @property {string} value What the application gets.
 * @property {string} label
 * @property {string} more What tells it from others, or what it is about.
 * @property {Component["emoji"]} [emoji]
 */

const TEXTS = 3;
const PEOPLE = 5;
const ROLES = 6;
const BOTH = 7;
const CHANNELS = 8;

/** Menus in which people may be found who are not known yet. */
export const OF_PEOPLE = new Set([PEOPLE, BOTH]);

/**
 * @param {Place} place
 * @param {string} channelId
 * @param {Pick<Component, "type" | "options" | "channel_types">} menu
 * @returns {Choosable[]}
 */
export function choosable(place, channelId, menu) {
  switch (menu.type) {
    case TEXTS:
      return (menu.options ?? []).map(({ value, label, description, emoji }) => ({
        value,
        label: plainName(label),
        more: description ? plainName(description) : "",
        emoji,
      }));
    case PEOPLE:
      return people(place, channelId);
    case ROLES:
      return roles(place);
    case BOTH:
      return [...people(place, channelId), ...roles(place)];
    case CHANNELS:
      return channels(place, menu.channel_types ?? []);
    default:
      return [];
  }
}

/**
 * The names of what is chosen from the beginning.
 * @param {Place} place
 * @param {Component} menu
 * @returns {string[]}
 */
export function chosenNames(place, menu) {
  if (menu.type === TEXTS) return (menu.options ?? []).filter((one) => one.default).map((one) => plainName(one.label));
  return (menu.default_values ?? []).map(({ id, type }) => {
    if (type === "user") return nameOf(place, { id, username: "" });
    if (type === "role") return roleName(place, id);
    const channel = place.store.read.channels.get(id);
    return channel ? `#${nameOfChannel(place.store.read, channel)}` : "\u2026";
  });
}

/** @param {Component} menu @returns {string[]} The values that are chosen from the beginning. */
export function chosenValues(menu) {
  if (menu.type === TEXTS) return (menu.options ?? []).filter((one) => one.default).map((one) => one.value);
  return (menu.default_values ?? []).map(({ id }) => id);
}

/** @param {Place} place */
function guildOf({ store, guildId }) {
  return guildId === null ? undefined : store.read.guilds.get(guildId);
}

/** @param {Place} place @param {string} id */
function roleName(place, id) {
  return `@${plainName(guildOf(place)?.roles.get(id)?.name ?? "")}`;
}

/**
 * @param {Place} place
 * @param {string} channelId
 * @returns {Choosable[]}
 */
function people(place, channelId) {
  const { users, channels, session } = place.store.read;
  const guild = guildOf(place);
  const recipients = channels.get(channelId)?.recipients ?? [];
  const ids = guild ? [...guild.members.keys()] : [session.me, ...recipients.map(({ id }) => id)];
  return ids.flatMap((id) => {
    const user = users.get(id) ?? guild?.members.get(id)?.user ?? recipients.find((one) => one.id === id);
    return user?.username ? [{ value: id, label: nameOf(place, user), more: tagOf(user) }] : [];
  });
}

/** @param {Place} place @returns {Choosable[]} */
function roles(place) {
  const all = [...(guildOf(place)?.roles.values() ?? [])];
  const highest = all.toSorted((one, other) => other.position - one.position);
  return highest.map(({ id }) => ({ value: id, label: roleName(place, id).replace(/^@@/, "@"), more: "" }));
}

/**
 * @param {Place} place
 * @param {readonly number[]} types All, where there are none.
 * @returns {Choosable[]}
 */
function channels({ store, guildId }, types) {
  const here = [...store.read.channels.values()].filter((one) => one.guild_id === guildId && guildId !== null);
  return here
    .filter((one) => types.length === 0 || types.includes(one.type))
    .map((one) => ({ value: one.id, label: `#${nameOfChannel(store.read, one)}`, more: "" }));
}
