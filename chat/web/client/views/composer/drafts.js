// What was typed and not sent is kept while one types and when the page is hidden, and a little later on the server.

const DELAY_MS = 300;
const SHARE_DELAY_MS = 3000;

/** @typedef {import("../../acts/drafts.js").Draft} Draft */

/**
 * @param {string} channelId
 * @param {import("../../acts/acts.js").Acts["drafts"]} drafts
 * @param {() => string} current what stands in the field
 * @param {() => number} now
 */
export function makeDraft(channelId, drafts, current, now) {
  const controller = new AbortController();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let patience;
  /** @type {Draft} */
  let kept = { text: "", at: 0 };
  /** @type {string | null} null where the server is to be told whatever it has */
  let shared = "";

  async function keep() {
    clearTimeout(timer);
    const text = current();
    if (text === kept.text) return;
    kept = { text, at: now() };
    clearTimeout(patience);
    patience = setTimeout(share, SHARE_DELAY_MS);
    await drafts.keep(channelId, kept);
  }

  async function share() {
    clearTimeout(patience);
    const sharing = kept;
    if (sharing.text === shared) return;
    shared = sharing.text;
    // Where it fails, with the next change or when the page is hidden.
    await drafts.share(channelId, sharing).catch(() => (shared = null));
  }

  const hidden = () => void keep().then(share);
  document.addEventListener("visibilitychange", hidden, { signal: controller.signal });
  addEventListener("pagehide", hidden, { signal: controller.signal });

  return {
    /**
     * What this browser has is shown at once, and what another one wrote later once it is known.
     * @param {(text: string) => void} show
     */
    async load(show) {
      const own = await drafts.read(channelId);
      if (current() !== "") return;
      kept = own;
      show(own.text);
      const other = await drafts.of(channelId);
      shared = other?.text ?? "";
      if (other === null || other.at <= own.at || current() !== own.text) return;
      kept = other;
      await drafts.keep(channelId, other);
      show(other.text);
    },
    changed() {
      clearTimeout(timer);
      timer = setTimeout(keep, DELAY_MS);
    },
    keep,
    /** It was sent: no device shows it any more. */
    async sent() {
      await keep();
      void share();
    },
    stop() {
      hidden();
      controller.abort();
    },
  };
}
