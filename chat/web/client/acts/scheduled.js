// Messages that are sent later.

import { bodyOf, formOf } from "./messages.js";

/** @typedef {import("./acts.js").Parts} Parts */
/** @typedef {import("./messages.js").Draft} Draft */
/** @typedef {import("../store/shapes.js").Id} Id */
/** @typedef {import("wire").ScheduledMessage} Scheduled */

const OWN = "/users/@me/scheduled-messages";

/** @param {Pick<Parts, "rest">} parts */
export function makeScheduledActs({ rest }) {
  return {
    /** @returns {Promise<Scheduled[]>} the next one first */
    all: () => rest.get(OWN),
    /**
     * @param {Id} channelId
     * @param {Draft} draft
     * @param {number} at Unix milliseconds.
     * @returns {Promise<Scheduled>}
     */
    schedule(channelId, draft, at) {
      const whole = { ...bodyOf(channelId, draft), ...moment(at) };
      const body = /** @type {import("wire").ScheduleMessageBody} */ (whole);
      const path = /** @type {const} */ (`/channels/${channelId}/messages/schedule`);
      return draft.files?.length ? rest.post(path, formOf(body, draft)) : rest.post(path, { body });
    },
    /** @param {Id} id @param {{content?: string, at?: number}} change @returns {Promise<Scheduled>} */
    change: (id, { content, at }) =>
      rest.patch(`${OWN}/${id}`, {
        body: { ...(content !== undefined && { content }), ...(at !== undefined && moment(at)) },
      }),
    /** @param {Id} id */
    remove: (id) => rest.delete(`${OWN}/${id}`),
    /** @param {Id} id */
    sendNow: (id) => rest.post(`${OWN}/${id}/send`),
  };
}

/** A moment as the person's clock shows it, and in which zone. @param {number} at Unix milliseconds. */
function moment(at) {
  return { scheduled_local_at: new Date(at).toISOString(), timezone: Intl.DateTimeFormat().resolvedOptions().timeZone };
}
