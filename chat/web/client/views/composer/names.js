// Names in place of ids: what the field shows of somebody, a role, a channel or an emoji, and what is sent for it. No
// page: text in, text out.
//
// The field stays a text area, and a name in it stays text. That is what input methods, screen readers, spelling,
// undo and a telephone's keyboard know; in an element that is edited with pieces of markup in it each of them is
// mended by hand, in each browser anew. A name and its id are a pair that is kept beside the text, and where the text
// has the name, the id is sent. Behind the text lies the same text once more, with a ground under what will be a
// mention, so that one sees it. So a name that somebody changes by one letter is text again, undo brings it back, and
// what is cut and pasted goes on to mean what it meant.
//
// A text is never taken for what it did not say: a name that would change the meaning of another place of the text
// is shown in a longer form, and if there is none, with its id.

/** What messages have for somebody, a role, a channel, an emoji of a guild. */
export const SOURCE = /<(?:@[!&]?|#)\d{1,20}>|<a?:\w{2,32}:\d{1,20}>/g;
const EVERYBODY = /^@(?:everyone|here)/;
const FORMS_MAXIMUM = 9;

/** @typedef {{text: string, isName: boolean}} Part */

export function makeNames() {
  /** @type {Map<string, string>} by what is shown, what is sent */
  const sources = new Map();
  let pattern = patternOf([]);

  /** @param {string} text */
  function sent(text) {
    return sources.size === 0 ? text : text.replace(pattern, (shown) => sources.get(shown) ?? shown);
  }

  /**
   * Whether a form can stand there, and everything else is sent as before.
   * @param {string} form
   * @param {string} source
   * @param {string} before
   * @param {string} after
   */
  function fits(form, source, before, after) {
    const known = sources.get(form);
    if (EVERYBODY.test(form) || (known !== undefined && known !== source)) return false;
    const meant = sent(before) + source + sent(after);
    sources.set(form, source);
    pattern = patternOf([...sources.keys()]);
    if (sent(before + form + after) === meant) return true;
    if (known === undefined) sources.delete(form);
    pattern = patternOf([...sources.keys()]);
    return false;
  }

  /**
   * What is shown for a source between two texts; itself where no form fits.
   * @param {string} source
   * @param {readonly string[]} forms the best first
   * @param {string} before
   * @param {string} after
   */
  function shown(source, forms, before, after) {
    const last = forms.at(-1);
    const numbered = Array.from({ length: last ? FORMS_MAXIMUM : 0 }, (_, count) => `${last} (${count + 2})`);
    return [...forms, ...numbered].find((form) => fits(form, source, before, after)) ?? source;
  }

  return {
    sent,
    shown,
    /**
     * What is shown of a text that came with ids, between two texts.
     * @param {string} text
     * @param {(source: string) => readonly string[]} formsOf none for what is not known
     * @param {string} [before]
     * @param {string} [after]
     */
    read(text, formsOf, before = "", after = "") {
      let done = "";
      let end = 0;
      for (const found of text.matchAll(SOURCE)) {
        const [source] = found;
        done += text.slice(end, found.index);
        end = found.index + source.length;
        done += shown(source, formsOf(source), before + done, text.slice(end) + after);
      }
      return done + text.slice(end);
    },
    /**
     * The text in parts, names apart.
     * @param {string} text
     * @returns {Part[]}
     */
    parts(text) {
      /** @type {Part[]} */
      const parts = [];
      let end = 0;
      for (const found of sources.size === 0 ? [] : text.matchAll(pattern)) {
        if (!sources.has(found[0])) continue;
        parts.push({ text: text.slice(end, found.index), isName: false }, { text: found[0], isName: true });
        end = found.index + found[0].length;
      }
      return [...parts, { text: text.slice(end), isName: false }].filter((part) => part.text !== "");
    },
    clear() {
      sources.clear();
      pattern = patternOf([]);
    },
  };
}

/**
 * Longer names before those that they begin with, and none in the middle of an address.
 * @param {string[]} names
 */
function patternOf(names) {
  const sorted = names.sort((one, other) => other.length - one.length);
  const words = sorted.map((name) => name.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"));
  // What stands there with its id has no name in it.
  return new RegExp(`${SOURCE.source}|(?<![A-Za-z0-9_])(?:${words.join("|")})`, "gu");
}
