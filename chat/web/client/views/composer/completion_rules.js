// What completion offers for the word before the caret. No page and no clock: text in, choices out.

/** @typedef {"person" | "role" | "channel" | "emoji" | "command"} Kind */
/** @typedef {{kind: Kind, mark: string, word: string, start: number}} Asked */

/**
 * @typedef {{label: string, more: string, insert: string, picture: string | null, run?: () => void}} Choice
 * `run`: what it does in place of being written.
 */

/**
 * @typedef {Choice & {words: string[], also?: string[], isLast?: boolean}} Candidate
 * `words` are its names; `also` is what it is found by besides, behind those whose names begin so; `isLast`: behind
 * others that fit as well.
 */

const CHOICES = 8;
/** Commands are looked through as well: nobody knows them by heart. */
export const COMMANDS = 50;
const MARKS = { "@": "person", "#": "channel", ":": "emoji" };
const EMOJI_LETTERS = 2;

/**
 * The word that is being typed, if it begins with a mark that asks for completion.
 * @param {string} text
 * @param {number} caret
 * @returns {Asked | null}
 */
export function askedFor(text, caret) {
  const command = caret === text.length ? /^\/([\p{L}\p{N}_' -]{0,64})$/u.exec(text) : null;
  if (command) return { kind: "command", mark: "/", word: command[1] ?? "", start: 0 };
  const found = /(^|[\s(\[{"'])([@#:])([\p{L}\p{N}\p{M}_.+-]{0,40})$/u.exec(text.slice(Math.max(0, caret - 64), caret));
  if (found === null) return null;
  const mark = /** @type {"@" | "#" | ":"} */ (found[2]);
  const word = found[3] ?? "";
  if (mark === ":" && word.length < EMOJI_LETTERS) return null;
  const kind = /** @type {Asked["kind"]} */ (MARKS[mark]);
  return { kind, mark, word, start: caret - word.length - 1 };
}

/**
 * The name of an emoji that has just been closed by its second colon.
 * @param {string} text
 * @param {number} caret
 * @returns {Asked | null}
 */
export function closedEmoji(text, caret) {
  const found = /(^|[\s(\[{"'])(:([\p{L}\p{N}_+-]{2,40}):)$/u.exec(text.slice(Math.max(0, caret - 64), caret));
  if (found === null) return null;
  return { kind: "emoji", mark: ":", word: found[3] ?? "", start: caret - (found[2] ?? "").length };
}

/**
 * The best candidates: a word that begins so before one that only contains it; then the shorter, then by name.
 * @param {readonly Candidate[]} candidates
 * @param {string} word
 * @param {number} [most]
 * @returns {Choice[]}
 */
export function ranked(candidates, word, most = CHOICES) {
  const wanted = folded(word);
  /** @type {{rank: number, one: Candidate}[]} */
  const found = [];
  for (const one of candidates) {
    const rank = Math.min(
      ...one.words.map((each) => rankOf(folded(each), wanted)),
      ...(one.also ?? []).map((each) => rankOf(each, wanted) + 1),
    );
    if (rank < 3) found.push({ rank, one });
  }
  found.sort((a, b) => {
    const nearer =
      a.rank - b.rank ||
      Number(a.one.isLast ?? false) - Number(b.one.isLast ?? false) ||
      a.one.label.length - b.one.label.length;
    return nearer || (a.one.label < b.one.label ? -1 : 1);
  });
  return found.slice(0, most).map(({ one }) => one);
}

/**
 * @param {string} each
 * @param {string} wanted
 */
function rankOf(each, wanted) {
  if (each === wanted) return 0;
  const at = each.indexOf(wanted);
  return at === 0 ? 1 : at > 0 ? 2 : 3;
}

/** @param {string} word */
function folded(word) {
  return word.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}
