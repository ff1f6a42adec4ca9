// What an account is called here and what it looks like: its name in the guild, its colour, its picture.

import { h } from "../../base/dom.js";

/** @typedef {Pick<import("../../store/store.js").Store, "read">} Store what views read of the store */
/** @typedef {Partial<import("wire").PartialUser> & {id: string}} Person as far as they are known */

/**
 * @typedef {{store: Store, guildId: string | null, invite?: import("../../acts/guilds.js").KnownInvite}} Place where a
 *   message stands; `invite` looks one up, where cards are shown
 */

const OVERRIDES = /[\u0000-\u001f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;
const DEFAULT_AVATARS = 6n;

/**
 * A name as it may stand in a line: without characters that turn the direction of what follows.
 * @param {string} name
 */
export function plainName(name) {
  const plain = name.replace(OVERRIDES, "").trim();
  return plain === "" ? "\u2026" : plain;
}

/**
 * The name by which others find an account: with its number, where it has one.
 * @param {Person} user
 */
export function tagOf(user) {
  const number = user["discriminator"];
  return plainName(number && number !== "0000" ? `${user.username}#${number}` : (user.username ?? ""));
}

/**
 * @param {Place} place
 * @param {string} userId
 */
function memberOf(place, userId) {
  return place.guildId === null ? undefined : place.store.read.guilds.get(place.guildId)?.members?.get(userId);
}

/**
 * @param {Place} place
 * @param {Person} user as a message carries it
 * @returns {string}
 */
export function nameOf(place, user) {
  const known = place.store.read.users.get(user.id) ?? user;
  const nick = memberOf(place, user.id)?.nick;
  return plainName(nick || known.global_name || known.username || user.username || "");
}

/**
 * The colour of the highest role that has one, as a CSS colour.
 * @param {Place} place
 * @param {string} userId
 * @returns {string | null}
 */
export function colourOf(place, userId) {
  const member = memberOf(place, userId);
  if (!member || place.guildId === null) return null;
  return roleColour(place.store.read.guilds.get(place.guildId), member.roles ?? []);
}

/**
 * The same, by the roles that somebody has.
 * @param {import("../../store/shapes.js").Guild | undefined} guild
 * @param {readonly string[]} roleIds
 * @returns {string | null}
 */
export function roleColour(guild, roleIds) {
  let best = null;
  for (const id of roleIds) {
    const role = guild?.roles.get(id);
    if (role && role.color !== 0 && (best === null || role.position > best.position)) best = role;
  }
  return best === null ? null : `#${best.color.toString(16).padStart(6, "0")}`;
}

/**
 * @param {Person} user
 * @param {number} size one of the sizes that the server draws
 */
export function avatarAddress(user, size) {
  if (user.avatar) return `/media/avatars/${user.id}/${user.avatar}.webp?size=${size}`;
  return `/static/avatars/${BigInt(user.id) % DEFAULT_AVATARS}.png`;
}

/**
 * @param {Place} place
 * @param {Person} user
 * @returns {HTMLImageElement}
 */
export function avatar(place, user) {
  const known = user.avatar === undefined ? (place.store.read.users.get(user.id) ?? user) : user;
  const picture = /** @type {HTMLImageElement} */ (
    h("img", { class: "avatar", alt: "", width: "40", height: "40", loading: "lazy", decoding: "async" })
  );
  picture.src = avatarAddress(known, 80);
  return picture;
}
