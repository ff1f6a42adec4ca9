// How far the account has read, and how often it was mentioned since. No dispatch raises a count: clients count what
// they hear, as the server does (messages.md, Read states).

import { isSilenced } from "./person_notices.js";
import { compareIds } from "./shapes.js";

/** @typedef {import("./shapes.js").Payload} Payload */
/** @typedef {import("./shapes.js").Id} Id */
/** @typedef {import("./shapes.js").Read} Read */
/** @typedef {import("./shapes.js").State} State */
/** @typedef {import("./shapes.js").Touch} Touch */
/**
 * @typedef {{type: number, author: {id: Id}, mentions: {id: Id}[], mention_roles: Id[],
 *   mention_everyone: boolean}} Said As much of a message as decides whether it counts.
 */

/** Plain messages, calls and replies: they count for the other recipients of a conversation. */
const SAID = new Set([0, 3, 19]);
const WRITTEN = new Set([0, 19]);
/** A type that counts for nobody. */
const NOTHING_SAID = 7;
/** Messages under the name of an account that did not act there, or of which not every session hears. */
const UNREAD_BY_AUTHOR = new Set([7, 18, 21]);

/**
 * @param {Payload} told A read state of Ready.
 * @returns {Read}
 */
export function readOf(told) {
  return {
    last: told.last_message_id,
    mentions: told.mention_count,
    pins: told.last_pin_timestamp,
    version: told.version ?? null,
    unheard: null,
    counted: new Map(),
  };
}

/**
 * Whether a channel has messages that the account has not read.
 * @param {State} state
 * @param {Id} channelId
 */
export function isUnread(state, channelId) {
  const newest = state.channels.get(channelId)?.last_message_id;
  const last = state.reads.get(channelId)?.last;
  return Boolean(newest) && (!last || compareIds(last, newest ?? "") < 0);
}

/**
 * Why a message mentions the account: by name, by a role, as one of all, or as one of two or of a group.
 * @param {State} state
 * @param {Said & {channel_id: Id, guild_id?: Id}} message As events have it.
 * @returns {Set<string>}
 */
export function reasonsOf(state, message) {
  if (isSilenced(state, message.author.id)) return new Set();
  if (message.guild_id === undefined) return new Set(SAID.has(message.type) ? ["said"] : []);
  const member = state.guilds.get(message.guild_id)?.members.get(state.session.me);
  const channel = state.channels.get(message.channel_id);
  const follows = channel && (!channel["thread_metadata"] || state.joined.has(channel.id));
  if (!member || !follows) return new Set();
  const named = message.mentions.some((user) => user.id === state.session.me);
  const reasons = new Set(named ? ["name"] : []);
  const settings = state.guildSettings.get(message.guild_id);
  if (message.mention_everyone && !settings?.["suppress_everyone"]) reasons.add("all");
  if (!settings?.["suppress_roles"]) {
    for (const role of message.mention_roles) if (member.roles.includes(role)) reasons.add(role);
  }
  return reasons;
}

/** @type {import("./shapes.js").Applying} */
export const READ_EVENTS = {
  MESSAGE_CREATE(state, message, touch) {
    if (message.author.id === state.session.me && message.webhook_id === undefined) return did(state, message, touch);
    const reasons = reasonsOf(state, message);
    if (reasons.size === 0) return;
    const read = of(state, message.channel_id);
    read.counted.set(message.id, reasons);
    change(state, message.channel_id, { mentions: read.mentions + 1 }, touch);
  },
  MESSAGE_UPDATE(state, message, touch) {
    // An edit may take mentions back; those that it adds do not count.
    const read = state.reads.get(message.channel_id);
    const counted = reasonsOfCount(state, message.channel_id, message.id, null);
    if (!read || !counted) return;
    const left = reasonsOf(state, message).intersection(counted);
    if (left.size === 0) takeBack(state, message.channel_id, [message.id], null, touch);
    read.counted.set(message.id, left);
  },
  MESSAGE_DELETE(state, { channel_id: channelId, id, author_id: author, content }, touch) {
    takeBack(state, channelId, [id], author ? saying(author, content ?? "") : null, touch);
  },
  MESSAGE_DELETE_BULK(state, { channel_id: channelId, ids }, touch) {
    takeBack(state, channelId, ids, null, touch);
  },
  MESSAGE_ACK(state, data, touch) {
    const read = of(state, data.channel_id);
    const counted = new Map([...read.counted].filter(([id]) => compareIds(id, data.message_id) > 0));
    const version = data.version ?? read.version;
    change(state, data.channel_id, { last: data.message_id, mentions: data.mention_count, version, counted }, touch);
  },
  CHANNEL_PINS_ACK(state, { channel_id: channelId, timestamp }, touch) {
    change(state, channelId, { pins: timestamp }, touch);
  },
};

/**
 * What the account writes it has read, with all before; what tells of its doing only if all before was read.
 * @param {State} state
 * @param {import("./shapes.js").Message} message
 * @param {Touch} touch
 */
function did(state, message, touch) {
  const read = of(state, message.channel_id);
  if (WRITTEN.has(message.type)) {
    change(state, message.channel_id, { last: message.id, mentions: 0, counted: new Map() }, touch);
  } else if (!UNREAD_BY_AUTHOR.has(message.type) && read.last !== null && !isUnread(state, message.channel_id)) {
    change(state, message.channel_id, { last: message.id }, touch);
  }
}

/**
 * Ready has told counts: of the messages behind them none was heard.
 * @param {State} state
 */
export function noteUnheard(state) {
  for (const [id, read] of state.reads) read.unheard = state.channels.get(id)?.last_message_id ?? null;
}

/**
 * As much of a message as its author and its words tell.
 * @param {Id} author
 * @param {string} content
 * @returns {Said}
 */
function saying(author, content) {
  const mentions = [...content.matchAll(/<@!?(\d+)>/g)].map(([, id = ""]) => ({ id }));
  const type = content === "" ? NOTHING_SAID : 0;
  return { type, author: { id: author }, mentions, mention_roles: [], mention_everyone: false };
}

/**
 * Why a message counts: as it was heard; of one before Ready, as its channel's log, or else what is told of it, has it.
 * @param {State} state
 * @param {Id} channelId
 * @param {Id} id
 * @param {Said | null} told
 */
function reasonsOfCount(state, channelId, id, told) {
  const read = state.reads.get(channelId);
  const heard = read?.counted.get(id);
  if (!read || heard) return heard;
  const isUnheard = read.unheard !== null && compareIds(id, read.unheard) <= 0;
  const said = state.logs.get(channelId)?.byId.get(id) ?? told;
  const isRead = compareIds(id, read.last ?? "0") <= 0;
  if (!isUnheard || isRead || !said || said.author.id === state.session.me) return undefined;
  const guildId = state.channels.get(channelId)?.guild_id ?? undefined;
  return reasonsOf(state, { ...said, channel_id: channelId, guild_id: guildId });
}

/**
 * @param {State} state
 * @param {Id} channelId
 * @param {Id[]} ids
 * @param {Said | null} told What is told of the only one.
 * @param {Touch} touch
 */
function takeBack(state, channelId, ids, told, touch) {
  const read = state.reads.get(channelId);
  const gone = ids.filter((id) => reasonsOfCount(state, channelId, id, told)?.size).length;
  for (const id of ids) read?.counted.delete(id);
  if (read && gone) change(state, channelId, { mentions: Math.max(0, read.mentions - gone) }, touch);
}

/**
 * @param {State} state
 * @param {Id} channelId
 * @returns {Read}
 */
function of(state, channelId) {
  const none = { last: null, mentions: 0, pins: null, version: null, unheard: null, counted: new Map() };
  const read = state.reads.get(channelId) ?? none;
  state.reads.set(channelId, read);
  return read;
}

/**
 * @param {State} state
 * @param {Id} channelId
 * @param {Partial<Read>} changes
 * @param {Touch} touch
 */
function change(state, channelId, changes, touch) {
  state.reads.set(channelId, { ...of(state, channelId), ...changes });
  touch(`read:${channelId}`);
}
