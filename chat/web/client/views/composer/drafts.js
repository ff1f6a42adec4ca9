// What was typed and not sent, by channel: kept while one types and when the page is hidden.

import { storage } from "../../base/storage.js";

const DELAY_MS = 300;

/**
 * @param {string} channelId
 * @param {() => string} current what stands in the field
 */
export function makeDraft(channelId, current) {
  const key = `draft:${channelId}`;
  const controller = new AbortController();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  let kept = "";

  async function keep() {
    clearTimeout(timer);
    const text = current();
    if (text === kept) return;
    kept = text;
    await (text === "" ? storage.remove(key) : storage.put(key, text));
  }

  document.addEventListener("visibilitychange", () => void keep(), { signal: controller.signal });
  addEventListener("pagehide", () => void keep(), { signal: controller.signal });

  return {
    async load() {
      const text = await storage.get(key);
      kept = typeof text === "string" ? text : "";
      return kept;
    },
    changed() {
      clearTimeout(timer);
      timer = setTimeout(keep, DELAY_MS);
    },
    keep,
    stop() {
      void keep();
      controller.abort();
    },
  };
}
