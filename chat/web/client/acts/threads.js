// What is done with threads and posts of forums.

/** @typedef {import("./acts.js").Parts} Parts */
/** @typedef {import("../store/shapes.js").Id} Id */

/** @param {Parts} parts */
export function makeThreadActs({ store, rest, random }) {
  return {
    /** Below a message. @param {Id} channelId @param {Id} messageId @param {string} name */
    startFrom: (channelId, messageId, name) =>
      rest.post(`/channels/${channelId}/messages/${messageId}/threads`, { body: { name } }),
    /** @param {Id} channelId @param {string} name @param {11 | 12} type 11 for all, 12 for those invited. */
    start: (channelId, name, type) => rest.post(`/channels/${channelId}/threads`, { body: { name, type } }),
    /** A post of a forum. @param {Id} channelId @param {string} name @param {string} content @param {Id[]} tags */
    post: (channelId, name, content, tags) =>
      rest.post(`/channels/${channelId}/threads`, {
        body: { name, applied_tags: tags, message: { content, nonce: random() } },
      }),
    /**
     * Threads of a channel, and the posts' first messages; the channels of what is shown come into the store.
     * @param {Id} channelId
     * @param {Record<string, string | number | boolean>} query As the operation takes it.
     */
    async search(channelId, query) {
      const found = await rest.get(`/channels/${channelId}/threads/search`, {
        query: { sort_order: "desc", ...query },
      });
      store.put((state, touch) => {
        for (const thread of found.threads) {
          if (!state.channels.has(thread.id)) state.channels.set(thread.id, thread);
          touch(`channel:${thread.id}`);
        }
      });
      return found;
    },
    /**
     * A thread that the session was not told of, for one is archived, or the account is not in it.
     * @param {Id} threadId
     * @returns {Promise<boolean>} whether it is there now
     */
    async find(threadId) {
      const thread = await rest.get(`/channels/${threadId}`).catch(() => null);
      if (!thread || !("thread_metadata" in thread) || !store.read.channels.has(thread.parent_id)) return false;
      store.put((state, touch) => {
        if (!state.channels.has(threadId)) state.channels.set(threadId, thread);
        touch(`channel:${threadId}`);
      });
      return true;
    },
    /** @param {Id} threadId */
    join: (threadId) => rest.put(`/channels/${threadId}/thread-members/@me`),
    /** @param {Id} threadId */
    leave: (threadId) => rest.delete(`/channels/${threadId}/thread-members/@me`),
    /** @param {Id} threadId @param {boolean} archived */
    archive: (threadId, archived) => rest.patch(`/channels/${threadId}`, { body: { archived } }),
  };
}
