// What a member may do (permissions.md, Computation). Masks are BigInt: they have more bits than a number keeps.

import { compareIds } from "./shapes.js";

/** @typedef {import("./shapes.js").Channel} Channel */
/** @typedef {import("./shapes.js").Guild} Guild */
/** @typedef {import("./shapes.js").Id} Id */
/** @typedef {import("./shapes.js").Overwrite} Overwrite */
/** @typedef {import("./shapes.js").State} State */

/** Bits by their names (permissions.md, Masks). */
export const BITS = Object.freeze({
  CREATE_INSTANT_INVITE: 1n << 0n,
  KICK_MEMBERS: 1n << 1n,
  BAN_MEMBERS: 1n << 2n,
  ADMINISTRATOR: 1n << 3n,
  MANAGE_CHANNELS: 1n << 4n,
  MANAGE_GUILD: 1n << 5n,
  ADD_REACTIONS: 1n << 6n,
  VIEW_AUDIT_LOG: 1n << 7n,
  VIEW_CHANNEL: 1n << 10n,
  SEND_MESSAGES: 1n << 11n,
  MANAGE_MESSAGES: 1n << 13n,
  EMBED_LINKS: 1n << 14n,
  ATTACH_FILES: 1n << 15n,
  READ_MESSAGE_HISTORY: 1n << 16n,
  MENTION_EVERYONE: 1n << 17n,
  USE_EXTERNAL_EMOJIS: 1n << 18n,
  CHANGE_NICKNAME: 1n << 26n,
  MANAGE_NICKNAMES: 1n << 27n,
  MANAGE_ROLES: 1n << 28n,
  MANAGE_WEBHOOKS: 1n << 29n,
  MANAGE_EXPRESSIONS: 1n << 30n,
  MANAGE_THREADS: 1n << 34n,
  USE_EXTERNAL_STICKERS: 1n << 37n,
  CREATE_PUBLIC_THREADS: 1n << 35n,
  CREATE_PRIVATE_THREADS: 1n << 36n,
  SEND_MESSAGES_IN_THREADS: 1n << 38n,
  MODERATE_MEMBERS: 1n << 40n,
  PIN_MESSAGES: 1n << 51n,
  BYPASS_SLOWMODE: 1n << 52n,
  VIEW_CHANNEL_MEMBERS: 1n << 54n,
});

/** Every bit: what the owner and administrators hold, whatever overwrites say. */
export const FULL = (1n << 64n) - 1n;

/**
 * What an account may do in a guild; nothing if the session was not told of its membership.
 * @param {Guild} guild
 * @param {Id} userId
 */
export function guildPermissions(guild, userId) {
  const member = guild.members.get(userId);
  if (!member) return 0n;
  if (guild.properties["owner_id"] === userId) return FULL;
  let mask = BigInt(guild.roles.get(guild.id)?.permissions ?? 0);
  for (const roleId of member.roles) mask |= BigInt(guild.roles.get(roleId)?.permissions ?? 0);
  return mask & BITS.ADMINISTRATOR ? FULL : mask;
}

/**
 * What an account may do in a channel of a guild; of a thread in the channel above it.
 * @param {State} state
 * @param {Channel} channel
 * @param {Id} [userId]
 */
export function channelPermissions(state, channel, userId = state.session.me) {
  const guild = state.guilds.get(channel.guild_id ?? "");
  const member = guild?.members.get(userId);
  if (!guild || !member) return 0n;
  const mask = guildPermissions(guild, userId);
  const place = channel["thread_metadata"] ? state.channels.get(channel.parent_id ?? "") : channel;
  return place ? within(guild, place, mask, member.roles, userId) : 0n;
}

/**
 * What somebody with these roles, and nothing else, may do in a channel.
 * @param {Guild} guild
 * @param {Channel} channel
 * @param {Id[]} roles
 */
export function channelPermissionsOf(guild, channel, roles) {
  const all = [guild.id, ...roles].map((id) => BigInt(guild.roles.get(id)?.permissions ?? 0));
  const mask = all.reduce((sum, bits) => sum | bits, 0n);
  return within(guild, channel, mask & BITS.ADMINISTRATOR ? FULL : mask, roles, "");
}

/**
 * @param {Guild} guild
 * @param {Channel} place
 * @param {bigint} mask Of the guild.
 * @param {Id[]} held
 * @param {Id} userId
 */
function within(guild, place, mask, held, userId) {
  if (mask === FULL) return mask;
  const roles = new Set(held);
  const overwrites = place.permission_overwrites ?? [];
  const levels = [
    overwrites.filter((entry) => entry.type === 0 && entry.id === guild.id),
    overwrites.filter((entry) => entry.type === 0 && entry.id !== guild.id && roles.has(entry.id)),
    overwrites.filter((entry) => entry.type === 1 && entry.id === userId),
  ];
  return levels.reduce(overwritten, mask);
}

/**
 * @param {State} state
 * @param {Channel} channel
 * @param {bigint} bits
 */
export function may(state, channel, bits) {
  return (channelPermissions(state, channel) & bits) === bits;
}

/**
 * @param {bigint} mask
 * @param {Overwrite[]} level
 */
function overwritten(mask, level) {
  const denied = level.reduce((sum, entry) => sum | BigInt(entry.deny), 0n);
  const allowed = level.reduce((sum, entry) => sum | BigInt(entry.allow), 0n);
  return (mask & ~denied) | allowed;
}

/**
 * Whether somebody stands strictly above another one in a guild (permissions.md, Role hierarchy): the owner above all,
 * then by the highest role, of equal positions the older one; who has no role stands below all that have.
 * @param {Guild} guild
 * @param {Id} userId A member that the session was told of.
 * @param {Id} otherId
 * @param {Id[]} otherRoles
 */
export function outranks(guild, userId, otherId, otherRoles) {
  const owner = guild.properties["owner_id"];
  if (userId === otherId || otherId === owner) return false;
  if (userId === owner) return true;
  const own = highest(guild, guild.members.get(userId)?.roles ?? []);
  const theirs = highest(guild, otherRoles);
  return own !== undefined && (theirs === undefined || above(own, theirs) < 0);
}

/**
 * Whether a member may give and take a role, as far as its place goes.
 * @param {Guild} guild
 * @param {Id} userId A member that the session was told of.
 * @param {import("./shapes.js").Role} role
 */
export function standsAbove(guild, userId, role) {
  if (userId === guild.properties["owner_id"]) return true;
  const own = highest(guild, guild.members.get(userId)?.roles ?? []);
  return own !== undefined && above(own, role) < 0;
}

/** @param {Guild} guild @param {Id[]} roleIds */
function highest(guild, roleIds) {
  const roles = roleIds.map((id) => guild.roles.get(id)).filter((role) => role !== undefined);
  return roles.sort(above)[0];
}

/** @param {import("./shapes.js").Role} one @param {import("./shapes.js").Role} other */
function above(one, other) {
  return other.position - one.position || compareIds(one.id, other.id);
}
