// What a person does with calls in conversations. They are entered and left as voice channels are (acts/voice.js).

/** @typedef {import("../store/shapes.js").Id} Id */

/** @param {Pick<import("./acts.js").Parts, "rest">} parts */
export function makeCallActs({ rest }) {
  return {
    /** All of the conversation who let this account ring them, and are not in the call. @param {Id} channelId */
    ring: (channelId) => rest.post(`/channels/${channelId}/call/ring`, { body: {} }),
    /** The call rings here no more, in no tab and on no device. @param {Id} channelId */
    decline: (channelId) => rest.post(`/channels/${channelId}/call/stop-ringing`, { body: {} }),
    /** The call is over for everybody in it. @param {Id} channelId */
    end: (channelId) => rest.post(`/channels/${channelId}/call/end`),
  };
}
