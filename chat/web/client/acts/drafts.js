// What was typed and not sent, by channel: known to the store, kept by this browser, and on the server for the person's
// other devices. Of two texts the one that was edited later counts.

import { storage } from "../base/storage.js";

/** @typedef {import("../store/shapes.js").Id} Id */
/** @typedef {{text: string, at: number}} Draft `at`: when it was edited (Unix milliseconds). */

const KEPT = "draft:";
/** How long what the server said counts: a person who comes back to a tab may have written elsewhere. */
const FRESH_MS = 10_000;

/** @param {Pick<import("./acts.js").Parts, "store" | "rest" | "now">} parts */
export function makeDraftActs({ store, rest, now }) {
  /** @type {{at: number, all: Promise<Map<Id, Draft>>}} */
  let heard = { at: -FRESH_MS, all: Promise.resolve(new Map()) };

  /** @param {Id} channelId @param {string} text */
  function tell(channelId, text) {
    const isNew = store.read.drafts.has(channelId) !== (text !== "");
    store.put((state, touch) => {
      if (text === "") state.drafts.delete(channelId);
      else state.drafts.set(channelId, text);
      if (isNew) touch(`channel:${channelId}`);
    });
  }

  /** @returns {Promise<Map<Id, Draft>>} */
  async function ask() {
    const drafts = await rest.get("/users/@me/drafts");
    return new Map(drafts.map((one) => [one.channel_id, { text: one.content, at: Date.parse(one.edited_at) }]));
  }

  /** What the server has of all devices; nothing while it cannot be asked. */
  function elsewhere() {
    if (now() - heard.at > FRESH_MS) heard = { at: now(), all: ask().catch(() => new Map()) };
    return heard.all;
  }

  /** @param {Id} channelId @returns {Promise<Draft>} */
  async function read(channelId) {
    const found = await storage.get(KEPT + channelId);
    // Earlier versions kept the text alone.
    return typeof found === "string" ? { text: found, at: 0 } : (found ?? { text: "", at: 0 });
  }

  /** @param {Id} channelId @param {Draft} draft */
  async function keep(channelId, draft) {
    tell(channelId, draft.text);
    await storage.put(KEPT + channelId, draft);
  }

  return {
    read,
    keep,
    /** What earlier pages and other devices left. */
    async load() {
      for (const key of await storage.keys(KEPT)) {
        const channelId = key.slice(KEPT.length);
        tell(channelId, (await read(channelId)).text);
      }
      for (const [channelId, other] of await elsewhere()) {
        const own = await read(channelId);
        if (other.at > own.at && other.text !== own.text) await keep(channelId, other);
      }
    },
    /** @param {Id} channelId @returns {Promise<Draft | null>} */
    async of(channelId) {
      return (await elsewhere()).get(channelId) ?? null;
    },
    /**
     * Tell the server; a text that is empty goes from this browser then.
     * @param {Id} channelId
     * @param {Draft} draft
     */
    async share(channelId, { text, at }) {
      const body = { content: text, edited_at: new Date(at).toISOString() };
      await rest.put(`/users/@me/drafts/${channelId}`, { body });
      (await elsewhere()).set(channelId, { text, at });
      if (text === "" && (await read(channelId)).text === "") await storage.remove(KEPT + channelId);
    },
  };
}
