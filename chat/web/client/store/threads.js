// Threads: those that the session is told of, and those that the account is in.

import { changeChannel, dropChannels } from "./channels.js";

/** @typedef {import("./shapes.js").Payload} Payload */
/**
 * @param {import("./shapes.js").State} state
 * @param {import("wire").Thread} thread
 */
export function putThread(state, thread) {
  state.channels.set(thread.id, thread);
  if (thread.member) state.joined.add(thread.id);
}

/** @type {import("./shapes.js").Applying} */
export const THREAD_EVENTS = {
  THREAD_CREATE: tellOfThread,
  THREAD_UPDATE: tellOfThread,
  THREAD_DELETE(state, { id }, touch) {
    dropChannels(state, (channel) => channel.id === id, touch);
  },
  THREAD_LIST_SYNC(state, { guild_id: guildId, channel_ids: parents, threads, members }, touch) {
    const covered = (/** @type {Payload} */ channel) => !parents || parents.includes(channel.parent_id);
    dropChannels(
      state,
      (channel) => channel.guild_id === guildId && Boolean(channel["thread_metadata"]) && covered(channel),
      touch,
    );
    for (const thread of threads) putThread(state, thread);
    for (const member of members) state.joined.add(member.id);
    touch(`channels:${guildId}`);
  },
  THREAD_MEMBER_UPDATE(state, member, touch) {
    if (!state.channels.has(member.id)) return;
    changeChannel(state, member.id, { member }, touch);
  },
  THREAD_MEMBERS_UPDATE(state, data, touch) {
    const { id, member_count: count, added_members: added = [], removed_member_ids: removed = [] } = data;
    changeChannel(state, id, { member_count: count }, touch);
    const { me } = state.session;
    if (added.some((/** @type {Payload} */ entry) => entry.user_id === me)) state.joined.add(id);
    if (removed.includes(me)) state.joined.delete(id);
    touch(`channels:${data.guild_id}`);
  },
};

/** @type {import("./shapes.js").Apply} */
function tellOfThread(state, thread, touch) {
  putThread(state, thread);
  touch(`channel:${thread.id}`);
  touch(`channels:${thread.guild_id}`);
}
