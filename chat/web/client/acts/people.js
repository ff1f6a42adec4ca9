// What is done with other people: conversations, friendships, notes, and what those may do who look after a guild.

/** @typedef {import("./acts.js").Parts} Parts */
/** @typedef {import("../store/shapes.js").Id} Id */

const BLOCKED = 2;
const TAG = /^(.*?)#(\d{1,4})$/;

/** @param {Pick<Parts, "store" | "rest" | "now">} parts */
export function makePeopleActs({ store, rest, now }) {
  /** @param {Id} userId */
  const relationship = (userId) => /** @type {const} */ (`/users/@me/relationships/${userId}`);
  /** @param {Id} guildId @param {Id} userId */
  const member = (guildId, userId) => /** @type {const} */ (`/guilds/${guildId}/members/${userId}`);

  /**
   * Notes last written, by account: of several that are typed in a row, the newest wins.
   * @type {Map<Id, Promise<unknown>>}
   */
  const writing = new Map();

  return {
    /**
     * Opens the conversation with one person, or makes a group.
     * @param {Id[]} userIds
     * @returns {Promise<Id>} of the channel, which the store knows then
     */
    async openConversation(userIds) {
      const [only] = userIds;
      const body = userIds.length === 1 ? { recipient_id: only } : { recipients: userIds };
      const channel = await rest.post("/users/@me/channels", { body });
      if (!store.read.channels.has(channel.id)) store.apply("CHANNEL_CREATE", channel, now());
      return channel.id;
    },
    /** Leaves a group, or takes a conversation off the list. @param {Id} channelId */
    closeConversation: (channelId) => rest.delete(`/channels/${channelId}`),
    /** @param {Id} channelId @param {{name?: string | null, icon?: string | null}} changes `icon`: a data URL. */
    changeGroup: (channelId, changes) => rest.patch(`/channels/${channelId}`, { body: changes }),
    /** @param {Id} channelId @param {Id} userId */
    addToGroup: (channelId, userId) => rest.put(`/channels/${channelId}/recipients/${userId}`),
    /** What an account shows of itself. @param {Id} userId @param {Id | null} guildId @param {AbortSignal} [signal] */
    profile: (userId, guildId, signal) =>
      rest.get(`/users/${userId}/profile`, {
        query: { guild_id: guildId, with_mutual_friends: true, with_mutual_guilds: true },
        ...(signal && { signal }),
      }),
    /** @param {Id} userId @param {string} note */
    note(userId, note) {
      const before = writing.get(userId) ?? Promise.resolve();
      const after = before.catch(() => null).then(() => rest.put(`/users/@me/notes/${userId}`, { body: { note } }));
      writing.set(userId, after);
      return after;
    },
    /** Asks for friendship by name. @param {string} tag `ana`, or `ana#0042` */
    addFriend(tag) {
      const [, username = tag.trim(), discriminator] = TAG.exec(tag.trim()) ?? [];
      const body = {
        username: username.replace(/^@/, ""),
        ...(discriminator !== undefined && { discriminator: discriminator.padStart(4, "0") }),
      };
      return rest.post("/users/@me/relationships", { body });
    },
    /** Asks for friendship. @param {Id} userId */
    befriend: (userId) => rest.post(relationship(userId)),
    /** @param {Id} userId */
    accept: (userId) => rest.put(relationship(userId), { body: {} }),
    /** Ends a friendship, a request, a block. @param {Id} userId */
    remove: (userId) => rest.delete(relationship(userId)),
    /** @param {Id} userId */
    block: (userId) => rest.put(relationship(userId), { body: { type: BLOCKED } }),
    /**
     * @param {Id} guildId
     * @param {Id} userId
     * @param {number | null} seconds From now; null ends it.
     * @param {string} reason
     */
    timeOut(guildId, userId, seconds, reason) {
      const until = seconds === null ? null : new Date(now() + seconds * 1000).toISOString();
      return rest.patch(member(guildId, userId), { body: { communication_disabled_until: until }, reason });
    },
    /** @param {Id} guildId @param {Id} userId @param {string} reason */
    kick: (guildId, userId, reason) => rest.delete(member(guildId, userId), { reason }),
    /**
     * @param {Id} guildId
     * @param {Id} userId
     * @param {{seconds: number, reason: string}} options How far back the person's messages go as well.
     */
    ban: (guildId, userId, { seconds, reason }) =>
      rest.put(`/guilds/${guildId}/bans/${userId}`, { body: { delete_message_seconds: seconds }, reason }),
    /** @param {Id} guildId @param {Id} userId @param {Id[]} roles */
    setRoles: (guildId, userId, roles) => rest.patch(member(guildId, userId), { body: { roles } }),
    /** @param {Id} guildId @param {Id} userId @param {string | null} nick */
    nick: (guildId, userId, nick) =>
      rest.patch(member(guildId, userId === store.read.session.me ? "@me" : userId), { body: { nick } }),
  };
}
