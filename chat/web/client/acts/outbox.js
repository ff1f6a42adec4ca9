// Sends what was written, in its order, one request a channel, and not twice: what has no answer goes again under its
// nonce as long as the server knows it, and is the person's to decide afterwards. It is kept over a reload.

import { ApiError } from "../../static/api.js";
import { storage } from "../base/storage.js";
import { dropUnsent, isRepeatable, nextUnsent, putUnsent } from "../store/outbox.js";

/** @typedef {import("../store/shapes.js").Unsent} Unsent */
/** @typedef {import("./acts.js").Parts} Parts */

const KEPT = "outbox:";
/** After an answer the dispatch is on its way; without one the answer is shown. */
const DISPATCH_MS = 5000;
const AGAIN_MS = 3000;

/** @param {Parts} parts */
export function makeOutbox({ store, rest, now }) {
  /** @type {Set<string>} channels with a request under way */
  const busy = new Set();

  /** @param {Unsent} unsent */
  function put(unsent) {
    store.put((state, touch) => putUnsent(state, unsent, touch));
    void storage.put(KEPT + unsent.nonce, unsent);
  }

  /** @param {string} nonce */
  function drop(nonce) {
    store.put((state, touch) => dropUnsent(state, nonce, touch));
    void storage.remove(KEPT + nonce);
  }

  /**
   * Send what waits in a channel until it is empty or the server does not answer.
   * @param {string} channelId
   */
  async function work(channelId) {
    if (busy.has(channelId)) return;
    busy.add(channelId);
    try {
      for (;;) {
        const unsent = nextUnsent(store.read, channelId);
        if (unsent === null || !store.read.session.live || !isRepeatable(unsent, now())) return;
        put({ ...unsent, state: "sending" });
        if (!(await send(unsent))) return;
      }
    } finally {
      busy.delete(channelId);
    }
  }

  /**
   * @param {Unsent} unsent
   * @returns {Promise<boolean>} whether the next one may go
   */
  async function send(unsent) {
    const { nonce, channel, body } = unsent;
    try {
      const message = await rest.post(`/channels/${channel}/messages`, { body: { ...body, nonce } });
      void storage.remove(KEPT + nonce);
      if (store.read.outbox.has(nonce)) arrive({ ...message, nonce });
      return true;
    } catch (error) {
      if (!store.read.outbox.has(nonce)) return true;
      const isRefused = error instanceof ApiError && error.status >= 400 && error.status < 500;
      const fault = error instanceof Error ? error.message : null;
      put({ ...unsent, state: isRefused ? "failed" : "unsure", fault });
      if (!isRefused) setTimeout(() => void work(channel), AGAIN_MS);
      return isRefused;
    }
  }

  /**
   * The row waits for its dispatch, which may come by a replay later.
   * @param {import("wire").Message} message
   */
  function arrive(message) {
    setTimeout(() => {
      if (store.read.outbox.has(message.nonce ?? "")) store.apply("MESSAGE_CREATE", message, now());
    }, DISPATCH_MS);
    store.put((state, touch) => {
      const unsent = state.outbox.get(message.nonce ?? "");
      if (unsent) putUnsent(state, { ...unsent, state: "sent" }, touch);
    });
  }

  /** All that waits, when the connection is there again. */
  function resume() {
    const waiting = [...store.read.outbox.values()].map((unsent) => unsent.channel);
    for (const channel of new Set(waiting)) void work(channel);
  }

  return {
    /**
     * @param {string} nonce
     * @param {string} channel
     * @param {import("../store/shapes.js").Wire} body
     * @param {import("../store/shapes.js").Message | null} referenced The message that it answers.
     */
    add(nonce, channel, body, referenced) {
      put({ nonce, channel, body, referenced, since: now(), state: "queued", fault: null });
      return work(channel);
    },
    /** @param {string} nonce */
    retry(nonce) {
      const unsent = store.read.outbox.get(nonce);
      if (!unsent) return undefined;
      // It goes under the nonce that it had while the server knows it; afterwards the person has decided.
      put({ ...unsent, state: "queued", since: isRepeatable(unsent, now()) ? unsent.since : now() });
      return work(unsent.channel);
    },
    discard: drop,
    resume,
    /** What an earlier page left goes now, if there is a connection. */
    async load() {
      for (const key of await storage.keys(KEPT)) {
        const unsent = await storage.get(key);
        if (!unsent || store.read.outbox.has(unsent.nonce)) continue;
        const state = unsent.state === "sending" ? "unsure" : unsent.state;
        store.put((read, touch) => putUnsent(read, { ...unsent, state }, touch));
      }
      resume();
    },
  };
}
