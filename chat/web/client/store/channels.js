// Channels of guilds, and conversations. What goes takes its threads, its messages and who types with it.

import { compareIds } from "./shapes.js";
import { putUser } from "./users.js";

/** @typedef {import("./shapes.js").State} State */
/** @typedef {import("./shapes.js").Channel} Channel */
/** @typedef {import("./shapes.js").Touch} Touch */
/** @typedef {import("./shapes.js").Id} Id */

export const CATEGORY = 4;
/** Channels of posts, and of posts with pictures. */
export const FORUMS = new Set([15, 16]);
const THREAD_CREATED = 18;
const THREAD_STARTER = 21;

/**
 * Forget channels and all that hangs below them.
 * @param {State} state
 * @param {(channel: Channel) => boolean} go
 * @param {Touch} [touch]
 */
export function dropChannels(state, go, touch = () => {}) {
  for (const channel of [...state.channels.values()].filter(go)) {
    const { id } = channel;
    state.channels.delete(id);
    for (const map of [state.logs, state.typing, state.voice]) map.delete(id);
    state.joined.delete(id);
    for (const topic of [`channel:${id}`, `log:${id}`, `channels:${channel.guild_id ?? "@me"}`]) touch(topic);
  }
}

/**
 * @param {State} state
 * @param {Id} id
 * @param {Partial<Channel>} changes
 * @param {Touch} touch
 */
export function changeChannel(state, id, changes, touch) {
  const channel = state.channels.get(id);
  if (!channel) return;
  state.channels.set(id, { ...channel, ...changes });
  touch(`channel:${id}`);
}

/**
 * The channels of a guild as the list shows them: those in no category first, then each category with what it holds.
 * @param {State} state
 * @param {Id} guildId
 * @returns {Channel[]}
 */
export function orderedChannels(state, guildId) {
  const here = [...state.channels.values()].filter((channel) => channel.guild_id === guildId);
  const all = here.filter((channel) => !channel["thread_metadata"]);
  const inPlace = (/** @type {Channel} */ one, /** @type {Channel} */ other) =>
    Number(isVoice(one)) - Number(isVoice(other)) ||
    (one.position ?? 0) - (other.position ?? 0) ||
    compareIds(one.id, other.id);
  const heads = all.filter((channel) => channel.type === CATEGORY).sort(inPlace);
  const known = new Set(heads.map((head) => head.id));
  const loose = all.filter((channel) => channel.type !== CATEGORY && !known.has(channel.parent_id ?? "")).sort(inPlace);
  return [
    ...loose,
    ...heads.flatMap((head) => [head, ...all.filter((channel) => channel.parent_id === head.id).sort(inPlace)]),
  ];
}

/**
 * What a guild's channels become when one is put elsewhere in their list: the places of those that it stands among, and
 * its category where that is another one.
 * @param {Channel[]} all In order.
 * @param {number} from
 * @param {number} to
 * @returns {{id: Id, position: number, parent_id?: Id | null}[]}
 */
export function movedChannels(all, from, to) {
  const channel = all[from];
  if (!channel) return [];
  const next = all.filter((one) => one !== channel);
  next.splice(to, 0, channel);
  const heads = next.filter(({ type }) => type === CATEGORY);
  if (channel.type === CATEGORY) return heads.map(({ id }, position) => ({ id, position }));
  const above = next.slice(0, to).filter(({ type }) => type === CATEGORY);
  const parent = above.at(-1)?.id ?? null;
  const isHere = (/** @type {Channel} */ one) => one === channel || (one.parent_id ?? null) === parent;
  return next
    .filter((one) => one.type !== CATEGORY && isHere(one))
    .map((one, position) => ({
      id: one.id,
      position,
      ...(one === channel && parent !== (one.parent_id ?? null) && { parent_id: parent }),
    }));
}

/**
 * The conversations of the account, the one with the newest message first; pinned ones before all others.
 * @param {State} state
 * @returns {Channel[]}
 */
export function orderedConversations(state) {
  const pin = (/** @type {Channel} */ channel) => state.pinned.indexOf(channel.id) >>> 0;
  const newest = (/** @type {Channel} */ channel) => channel.last_message_id ?? channel.id;
  return [...state.channels.values()]
    .filter((channel) => !channel.guild_id)
    .sort((one, other) => pin(one) - pin(other) || compareIds(newest(other), newest(one)));
}

/**
 * @param {Channel} channel
 * @param {Id} id
 */
function below(channel, id) {
  return channel.parent_id === id && Boolean(channel["thread_metadata"]);
}

/** @param {Channel} channel */
function isVoice(channel) {
  return channel.type === 2;
}

/** @type {import("./shapes.js").Applying} */
export const CHANNEL_EVENTS = {
  CHANNEL_CREATE: putChannel,
  CHANNEL_UPDATE: putChannel,
  CHANNEL_UPDATE_BULK(state, { guild_id: guildId, channels }, touch, now) {
    for (const channel of channels) putChannel(state, { ...channel, guild_id: guildId }, touch, now);
  },
  CHANNEL_DELETE(state, { id }, touch) {
    dropChannels(state, (channel) => channel.id === id || below(channel, id), touch);
  },
  CHANNEL_RECIPIENT_ADD(state, { channel_id: id, user }, touch) {
    putUser(state, user);
    changeChannel(state, id, { recipients: [...(state.channels.get(id)?.recipients ?? []), user] }, touch);
  },
  CHANNEL_RECIPIENT_REMOVE(state, { channel_id: id, user }, touch) {
    const channel = state.channels.get(id);
    const { [user.id]: _gone, ...nicks } = channel?.["nicks"] ?? {};
    const recipients = (channel?.recipients ?? []).filter((other) => other.id !== user.id);
    changeChannel(state, id, { recipients, ...(channel?.["nicks"] ? { nicks } : {}) }, touch);
  },
  CHANNEL_PINS_UPDATE(state, { channel_id: id, last_pin_timestamp: pinned }, touch) {
    changeChannel(state, id, { last_pin_timestamp: pinned }, touch);
    touch(`pins:${id}`);
  },
  MESSAGE_CREATE(state, message, touch) {
    // The message that tells of a thread is not shown to all who see the channel.
    if (message.type === THREAD_CREATED) return;
    const before = state.channels.get(message.channel_id);
    const isNew = compareIds(message.id, before?.last_message_id ?? "0") > 0;
    changeChannel(state, message.channel_id, { last_message_id: message.id }, touch);
    // What opens a thread does not count as written in it.
    if (isNew && message.type !== THREAD_STARTER) countMessages(state, message.channel_id, 1, touch);
    if (!message.guild_id) touch("channels:@me");
  },
  MESSAGE_DELETE(state, { channel_id: id }, touch) {
    countMessages(state, id, -1, touch);
  },
  MESSAGE_DELETE_BULK(state, { channel_id: id, ids }, touch) {
    countMessages(state, id, -ids.length, touch);
  },
  PASSIVE_UPDATES(state, { channels }, touch) {
    for (const [id, newest] of Object.entries(channels)) changeChannel(state, id, { last_message_id: newest }, touch);
  },
};

/**
 * What is shown of a thread beside the message that it was made from.
 * @param {State} state
 * @param {Id} id
 * @param {number} more
 * @param {import("./shapes.js").Touch} touch
 */
function countMessages(state, id, more, touch) {
  const thread = state.channels.get(id);
  if (!thread?.["thread_metadata"]) return;
  changeChannel(state, id, { message_count: Math.max(0, (thread["message_count"] ?? 0) + more) }, touch);
  touch(`log:${thread.parent_id}`);
}

/** @type {import("./shapes.js").Apply} */
function putChannel(state, channel, touch) {
  for (const user of channel.recipients ?? []) putUser(state, user);
  state.channels.set(channel.id, channel);
  touch(`channel:${channel.id}`);
  touch(`channels:${channel.guild_id ?? "@me"}`);
}
