// Everything that the oracle compares, as plain data: after any history it is what a fresh Ready makes it.

import { compareIds } from "./shapes.js";

/** @typedef {import("./shapes.js").Channel} Channel */
/** @typedef {import("./shapes.js").Guild} Guild */
/** @typedef {import("./shapes.js").State} State */

/** What no dispatch keeps up to date in threads, or what is compared on its own. */
const KEPT_OF_THREADS = ["message_count", "total_message_sent", "member", "member_ids_preview", "newly_created"];

/** @param {State} state */
export function picture(state) {
  const guilds = [...state.guilds.values()];
  const open = guilds.filter((guild) => !guild.unavailable);
  return {
    guilds: Object.fromEntries(open.map((guild) => [guild.id, pictured(state, guild)])),
    unavailable: keyed(guilds.filter((guild) => guild.unavailable).map((guild) => guild.properties)),
    guild_folders: state.settings?.["guild_folders"] ?? null,
    account: accountPicture(state),
    read_states: Object.fromEntries(
      [...state.reads].map(([id, read]) => [id, [read.last, read.mentions, read.pins, read.version]]),
    ),
  };
}

/**
 * @param {State} state
 * @param {Guild} guild
 */
function pictured(state, guild) {
  const here = [...state.channels.values()].filter((channel) => channel.guild_id === guild.id);
  const active = here.filter((channel) => channel["thread_metadata"] && !channel["thread_metadata"].archived);
  const joined = active.filter((thread) => state.joined.has(thread.id));
  const { user: _user, ...own } = guild.members.get(state.session.me) ?? { user: null };
  return {
    ...guild.properties,
    features: guild.properties["features"].toSorted(),
    roles: Object.fromEntries(guild.roles),
    channels: keyed(here.filter((channel) => !channel["thread_metadata"]).map(channelPicture)),
    emojis: keyed(guild.emojis.map(({ user: _maker, ...emoji }) => emoji)),
    stickers: keyed(guild.stickers.map(({ user: _maker, ...sticker }) => sticker)),
    own,
    joined_at: guild.joinedAt,
    member_count: guild.counts.members,
    threads: keyed(joined.map((thread) => without(thread, KEPT_OF_THREADS))),
    joined_threads: joined.map((thread) => thread.id).sort(),
  };
}

/** @param {State} state */
function accountPicture(state) {
  const friends = [...state.relationships.values()].filter((entry) => entry["type"] === 1);
  return {
    user: state.users.get(state.session.me),
    settings: state.settings,
    // Those of a guild outlive a membership, and go some time after the guild: sessions are not told of it.
    guild_settings: Object.fromEntries(
      [...state.guildSettings].filter(([id]) => id === `${null}` || state.guilds.has(id)),
    ),
    relationships: Object.fromEntries(
      [...state.relationships].map(([id, entry]) => [id, without(entry, ["friend_shares_voice_activity"])]),
    ),
    friends: Object.fromEntries(friends.map(({ ["id"]: id }) => [id, state.users.get(id)])),
    presences: Object.fromEntries(state.presences),
    notes: Object.fromEntries(state.notes),
    pinned: state.pinned,
    channels: keyed([...state.channels.values()].filter((channel) => !channel.guild_id).map(conversationPicture)),
  };
}

/** @param {Channel} channel */
function channelPicture(channel) {
  const overwrites = (channel.permission_overwrites ?? []).toSorted((one, other) => compareIds(one.id, other.id));
  return { ...channel, permission_overwrites: overwrites };
}

/** @param {Channel} channel A conversation, its recipients by their ids: how they are called is told elsewhere. */
function conversationPicture({ nicks, recipients = [], ...channel }) {
  const named = nicks && Object.keys(nicks).length > 0 ? { nicks } : {};
  return { ...channel, ...named, recipients: recipients.map((user) => user.id).sort() };
}

/** @param {Record<string, unknown>[]} objects */
function keyed(objects) {
  return Object.fromEntries(objects.map((entry) => [entry.id, entry]));
}

/**
 * @param {object} object
 * @param {string[]} names
 */
function without(object, names) {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}
