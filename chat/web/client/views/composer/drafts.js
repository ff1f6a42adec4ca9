// What was typed and not sent is kept while one types and when the page is hidden.

const DELAY_MS = 300;

/**
 * @param {string} channelId
 * @param {import("../../acts/acts.js").Acts["drafts"]} drafts
 * @param {() => string} current what stands in the field
 */
export function makeDraft(channelId, drafts, current) {
  const controller = new AbortController();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  let kept = "";

  async function keep() {
    clearTimeout(timer);
    const text = current();
    if (text === kept) return;
    kept = text;
    await drafts.keep(channelId, text);
  }

  document.addEventListener("visibilitychange", () => void keep(), { signal: controller.signal });
  addEventListener("pagehide", () => void keep(), { signal: controller.signal });

  return {
    async load() {
      kept = await drafts.read(channelId);
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
