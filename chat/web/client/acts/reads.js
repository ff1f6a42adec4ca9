// How far channels were read.

import { isUnread } from "../store/reads.js";
import { compareIds } from "../store/shapes.js";

/** @typedef {import("./acts.js").Parts} Parts */
/** @typedef {import("../store/shapes.js").Id} Id */

const CHANNELS_MAXIMUM = 100;

/** @param {Parts} parts */
export function makeReadActs({ store, rest }) {
  /**
   * @param {Id} channelId
   * @param {Id} messageId
   * @param {import("wire").AcknowledgeMessageBody} body
   */
  const tell = (channelId, messageId, body) =>
    rest.post(`/channels/${channelId}/messages/${messageId}/ack`, { body }).catch(() => null);

  /**
   * Everything in these channels is read, as far as it is not.
   * @param {Id[]} channelIds
   */
  async function markRead(channelIds) {
    const { channels } = store.read;
    const unread = channelIds.filter((id) => isUnread(store.read, id));
    for (let start = 0; start < unread.length; start += CHANNELS_MAXIMUM) {
      const part = unread.slice(start, start + CHANNELS_MAXIMUM);
      const states = part.map((id) => ({ channel_id: id, message_id: channels.get(id)?.last_message_id ?? "" }));
      await rest.post("/read-states/ack-bulk", { body: { read_states: states } });
    }
  }

  return {
    /** @param {Id} channelId @param {Id} messageId the newest message that was seen */
    acknowledge(channelId, messageId) {
      const read = store.read.reads.get(channelId);
      const isKnown = read?.last && compareIds(read.last, messageId) >= 0;
      return isKnown && read.mentions === 0 ? Promise.resolve(null) : tell(channelId, messageId, {});
    },
    /** The message and what follows is new again. @param {Id} channelId @param {Id} messageId */
    markUnread(channelId, messageId) {
      const ids = store.read.logs.get(channelId)?.ids ?? [];
      // A snowflake below it does where no message is known there.
      const before = ids[ids.indexOf(messageId) - 1] ?? String(BigInt(messageId) - 1n);
      return tell(channelId, before, { manual: true, mention_count: 0 });
    },
    /** @param {Id} channelId */
    markChannelRead: (channelId) => markRead([channelId]),
    /** @param {Id} guildId */
    markGuildRead(guildId) {
      const channels = [...store.read.channels.values()].filter((channel) => channel.guild_id === guildId);
      return markRead(channels.map(({ id }) => id));
    },
    /** The pins were looked at. @param {Id} channelId */
    seePins: (channelId) => rest.post(`/channels/${channelId}/pins/ack`).catch(() => null),
  };
}
