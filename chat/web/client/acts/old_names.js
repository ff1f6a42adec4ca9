// What is done with people of an import, who have no account here: members take their messages over, or give them back.

/** @typedef {import("./acts.js").Parts} Parts */
/** @typedef {import("../store/shapes.js").Id} Id */

/** @param {Pick<Parts, "rest">} parts */
export function makeOldNameActs({ rest }) {
  /** @param {Id} guildId @param {Id} userId */
  const claim = (guildId, userId) => /** @type {const} */ (`/guilds/${guildId}/placeholders/${userId}/claim`);
  return {
    /** Those behind an id, by their ids. @param {Id} guildId @param {Id} after @param {number} limit */
    page: (guildId, after, limit) => rest.get(`/guilds/${guildId}/placeholders`, { query: { after, limit } }),
    /** @param {Id} guildId @param {Id} userId */
    one: (guildId, userId) => rest.get(`/guilds/${guildId}/placeholders/${userId}`),
    /**
     * Says that one is this person, or confirms that a member is who has said so.
     * @param {Id} guildId
     * @param {Id} userId
     * @param {Id} [claimantId]
     */
    claim: (guildId, userId, claimantId) =>
      rest.post(claim(guildId, userId), { body: claimantId ? { user_id: claimantId } : {} }),
    /**
     * Ends one's own request or claim, or that of a member.
     * @param {Id} guildId
     * @param {Id} userId
     * @param {Id} [claimantId]
     */
    release: (guildId, userId, claimantId) => rest.delete(claim(guildId, userId), { query: { user_id: claimantId } }),
  };
}
