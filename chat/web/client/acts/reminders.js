// Messages of which the account is reminded.

/** @typedef {import("../store/shapes.js").Id} Id */
/** @typedef {import("wire").Reminder} Reminder */

const OWN = "/users/@me/reminders";

/** @param {Pick<import("./acts.js").Parts, "rest">} parts */
export function makeReminderActs({ rest }) {
  return {
    /** @returns {Promise<Reminder[]>} the earliest first */
    all: () => rest.get(OWN),
    /** @param {Id} messageId @returns {Promise<Reminder>} */
    one: (messageId) => rest.get(`${OWN}/${messageId}`),
    /** @param {Id} channelId @param {Id} messageId @param {number} at Unix milliseconds. */
    put: (channelId, messageId, at) =>
      rest.put(`${OWN}/${messageId}`, { body: { channel_id: channelId, remind_at: new Date(at).toISOString() } }),
    /** @param {Id} messageId */
    remove: (messageId) => rest.delete(`${OWN}/${messageId}`),
  };
}
