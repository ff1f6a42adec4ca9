// What is new, as lists show it: by channel, and summed up by guild. What is muted is not counted as unread; mentions
// count all the same.

import { channelPermissions, BITS } from "./permissions.js";
import { isUnread } from "./reads.js";
import { incomingRequests } from "./users.js";

/** @typedef {import("./shapes.js").Channel} Channel */
/** @typedef {import("./shapes.js").Id} Id */
/** @typedef {import("./shapes.js").State} State */
/** @typedef {{isUnread: boolean, mentions: number}} News */

const CATEGORY = 4;

/**
 * @typedef {{muted?: boolean | null, mute_config?: {end_time?: string | null} | null}} Muting Of user guild settings.
 */

/**
 * Whether a mute holds: one with an end is over when it has come.
 * @param {Muting | undefined} entry
 * @param {number} now
 */
export function isMuted(entry, now) {
  if (!entry?.muted) return false;
  const end = entry.mute_config?.end_time;
  return !end || Date.parse(end) > now;
}

/**
 * @param {State} state
 * @param {Channel} channel
 * @param {number} now
 */
export function isChannelMuted(state, channel, now) {
  const overrides = state.guildSettings.get(`${channel.guild_id ?? null}`)?.["channel_overrides"] ?? {};
  return isMuted(overrides[channel.id], now) || isMuted(overrides[channel.parent_id ?? ""], now);
}

/**
 * @param {State} state
 * @param {Channel} channel
 * @param {number} now
 * @returns {News}
 */
export function newsOf(state, channel, now) {
  const mentions = state.reads.get(channel.id)?.mentions ?? 0;
  const isHidden = channel["thread_metadata"] && !state.joined.has(channel.id);
  if (channel.type === CATEGORY || isHidden) return { isUnread: false, mentions: 0 };
  return { isUnread: isUnread(state, channel.id) && !isChannelMuted(state, channel, now), mentions };
}

/**
 * The news of all guilds, and of conversations under `@me`, where a request for friendship counts as a mention does.
 * @param {State} state
 * @param {number} now
 * @param {ReadonlySet<string>} [wanted] Only these.
 * @returns {Map<string, News>}
 */
export function newsByGuild(state, now, wanted) {
  /** @type {Map<string, News>} */
  const sums = new Map();
  for (const channel of state.channels.values()) {
    const guildId = channel.guild_id ?? "@me";
    if (wanted && !wanted.has(guildId)) continue;
    const sum = sums.get(guildId) ?? { isUnread: false, mentions: 0 };
    const news = newsOf(state, channel, now);
    sum.mentions += news.mentions;
    sum.isUnread ||= news.isUnread && !isMuted(state.guildSettings.get(guildId), now);
    sums.set(guildId, sum);
  }
  const requests = wanted && !wanted.has("@me") ? 0 : incomingRequests(state);
  if (requests > 0) {
    const { isUnread: hasNews, mentions } = sums.get("@me") ?? { isUnread: false, mentions: 0 };
    sums.set("@me", { isUnread: hasNews, mentions: mentions + requests });
  }
  return sums;
}

/**
 * Whether the account can read a channel, and not only see that it is there.
 * @param {State} state
 * @param {Channel} channel
 */
export function isReadable(state, channel) {
  return !channel.guild_id || (channelPermissions(state, channel) & BITS.VIEW_CHANNEL) !== 0n;
}
