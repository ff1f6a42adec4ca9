// Polls: asking, voting, who voted, ending one's own.

/** @typedef {import("../store/shapes.js").Id} Id */

const VOTERS = 100;

/** @param {Pick<import("./acts.js").Parts, "rest" | "random">} parts */
export function makePollActs({ rest, random }) {
  /** @param {Id} channelId @param {Id} messageId */
  const at = (channelId, messageId) => /** @type {const} */ (`/channels/${channelId}/polls/${messageId}`);
  return {
    /**
     * @param {Id} channelId
     * @param {NonNullable<import("wire").Body<"POST", "/v1/channels/{channel_id}/messages">["poll"]>} poll
     */
    ask: (channelId, poll) => rest.post(`/channels/${channelId}/messages`, { body: { poll, nonce: random() } }),
    /** @param {Id} channelId @param {Id} messageId @param {number[]} answers None takes the vote back. */
    vote: (channelId, messageId, answers) =>
      rest.put(`${at(channelId, messageId)}/answers/@me`, { body: { answer_ids: answers.map(String) } }),
    /** The first of those who gave an answer. @param {Id} channelId @param {Id} messageId @param {number} answer */
    voters: async (channelId, messageId, answer) =>
      (await rest.get(`${at(channelId, messageId)}/answers/${String(answer)}`, { query: { limit: VOTERS } })).users,
    /** @param {Id} channelId @param {Id} messageId */
    end: (channelId, messageId) => rest.post(`${at(channelId, messageId)}/expire`),
  };
}
