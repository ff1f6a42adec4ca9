// Moving pictures of the service that the operator has named, and those that the account keeps.

import { exchange } from "../../static/api.js";

/** @typedef {import("wire").Gifs} Gifs */

/** @param {Pick<import("./acts.js").Parts, "rest">} parts */
export function makeGifActs({ rest }) {
  /** @type {Promise<string | null> | null} */
  let asked = null;

  /** @returns {Promise<string | null>} */
  async function named() {
    const { data } = await exchange("GET", "/.well-known/chat");
    return data?.services?.gif_enabled ? String(data.gif.display_name) : null;
  }

  return {
    /** What the service is called; null where there is none. It is asked once. */
    service() {
      asked ??= named().catch(() => ((asked = null), null));
      return asked;
    },
    /**
     * A page of pictures: by words, or those that are popular where there are none.
     * @param {string} words
     * @param {string} language Two letters.
     * @param {string | null} after `next` of the page before.
     * @returns {Promise<Gifs>}
     */
    find(words, language, after) {
      const query = { language, ...(after !== null && { after }) };
      return words === ""
        ? rest.get("/gifs/trending", { query })
        : rest.get("/gifs/search", { query: { q: words, ...query } });
    },
    /** Keep a picture at hand. @param {string} url @param {string} title What it shows. */
    keep: (url, title) => rest.post("/users/@me/memes", { body: { url, ...(title && { alt_text: title }) } }),
    /** @param {string} id */
    forget: (id) => rest.delete(`/users/@me/memes/${id}`),
  };
}
