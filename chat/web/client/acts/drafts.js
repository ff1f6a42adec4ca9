// What was typed and not sent, by channel: kept by the browser, and known to the store.

import { storage } from "../base/storage.js";

/** @typedef {import("../store/shapes.js").Id} Id */

const KEPT = "draft:";

/** @param {Pick<import("./acts.js").Parts, "store">} parts */
export function makeDraftActs({ store }) {
  /** @param {Id} channelId @param {string} text */
  function tell(channelId, text) {
    const isNew = store.read.drafts.has(channelId) !== (text !== "");
    store.put((state, touch) => {
      if (text === "") state.drafts.delete(channelId);
      else state.drafts.set(channelId, text);
      if (isNew) touch(`channel:${channelId}`);
    });
  }

  return {
    /** What earlier pages left. */
    async load() {
      for (const key of await storage.keys(KEPT)) {
        const text = await storage.get(key);
        if (typeof text === "string") tell(key.slice(KEPT.length), text);
      }
    },
    /** @param {Id} channelId @returns {Promise<string>} */
    async read(channelId) {
      const text = await storage.get(KEPT + channelId);
      return typeof text === "string" ? text : "";
    },
    /** @param {Id} channelId @param {string} text none where it is empty */
    async keep(channelId, text) {
      tell(channelId, text);
      await (text === "" ? storage.remove(KEPT + channelId) : storage.put(KEPT + channelId, text));
    },
  };
}
