// Calls in conversations: whom one may call, who is in a call, who called, and which calls ring here.

import { isSilenced } from "./person_notices.js";
import { isQuiet } from "./notices.js";
import { isChannelMuted } from "./unread.js";

/** @typedef {import("./shapes.js").State} State */
/** @typedef {import("./shapes.js").Id} Id */
/** @typedef {import("./shapes.js").Channel} Channel */
/** @typedef {import("./shapes.js").Call} Call */

const OF_TWO = 1;
const GROUP = 3;
const BLOCKED = 2;

/**
 * Whether people can be called in the channel: in conversations, but not with programs and not with those who are
 * blocked.
 * @param {State} state
 * @param {Channel | undefined} channel
 */
export function mayCall(state, channel) {
  if (channel?.type === GROUP) return true;
  const other = channel?.type === OF_TWO ? channel.recipients?.[0] : undefined;
  return other !== undefined && mayCallPerson(state, other.id);
}

/** @param {State} state @param {Id} userId */
export function mayCallPerson(state, userId) {
  const isProgram = state.users.get(userId)?.bot || state.users.get(userId)?.system;
  return userId !== state.session.me && !isProgram && state.relationships.get(userId)?.["type"] !== BLOCKED;
}

/**
 * The accounts that are in the call, in the order in which they came.
 * @param {State} state
 * @param {Id} channelId
 * @returns {Id[]}
 */
export function peopleInCall(state, channelId) {
  return [...new Set([...(state.voice.get(channelId)?.values() ?? [])].map((one) => one["user_id"]))];
}

/**
 * Whose call it is, for those whom it rings; null in a group where nobody is there yet.
 * @param {State} state
 * @param {Id} channelId
 */
export function callerOf(state, channelId) {
  const { me } = state.session;
  const channel = state.channels.get(channelId);
  if (channel?.type === OF_TWO) return channel.recipients?.find(({ id }) => id !== me)?.id ?? null;
  return peopleInCall(state, channelId).find((id) => id !== me) ?? null;
}

/**
 * The calls that ring for the account. Those of somebody whom it has silenced ring for nobody here.
 * @param {State} state
 * @returns {Call[]}
 */
export function ringingCalls(state) {
  return [...state.calls.values()].filter(({ channel_id: id, ringing }) => {
    const caller = callerOf(state, id);
    return ringing?.includes(state.session.me) && (caller === null || !isSilenced(state, caller));
  });
}

/**
 * Whether a call that rings is to be seen only: while the account does not want to be disturbed, in its quiet hours,
 * and in a conversation that it has muted.
 * @param {State} state
 * @param {Id} channelId
 * @param {number} now Unix milliseconds.
 */
export function ringsQuietly(state, channelId, now) {
  const channel = state.channels.get(channelId);
  const isMuted = channel !== undefined && isChannelMuted(state, channel, now);
  return isMuted || state.settings?.["status"] === "dnd" || isQuiet(state.settings?.["quiet_hours"], now);
}
