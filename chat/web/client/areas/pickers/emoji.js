// Picks an emoji: all of Unicode by groups and words, in any skin tone, those of the person's guilds, the recent ones.

import { fill, h } from "../../base/dom.js";
import { undrawn } from "../../base/glyphs.js";
import { storage } from "../../base/storage.js";
import { t } from "../../words/catalogue.js";
import { unicodeEmoji } from "../../views/names/emoji_names.js";
import { plainName } from "../../views/names/people.js";
import { makeGifs } from "./gifs.js";
import { makeGrid } from "./grid.js";
import { makeTabs } from "./tabs.js";

/** @typedef {import("../../views/shell/app.js").App} App */
/** @typedef {import("../../views/names/emoji_names.js").Row} Row */
/** @typedef {{emoji: {id: string | null, name: string, animated?: boolean}, text: string}} Picked */
/**
 * @typedef {{key: string, label: string, name: string, words: string, text: string, picture: string | null,
 *   picked: Picked}} Choice
 */
/** @typedef {{name: string, choices: Choice[]}} Section */
/** @typedef {{canAttach: boolean, send: (picture: import("./gifs.js").Picture) => void}} Gifs */

const RECENT = "emoji:recent";
const TONE = "emoji:tone";
const RECENT_MAXIMUM = 27;
const HANDS = ["\u270b", "\u270b\u{1f3fb}", "\u270b\u{1f3fc}", "\u270b\u{1f3fd}", "\u270b\u{1f3fe}", "\u270b\u{1f3ff}"];

/**
 * @param {object} parts
 * @param {App} parts.app
 * @param {Element} parts.anchor
 * @param {string | null} parts.guildId
 * @param {(picked: Picked) => void} parts.onPick
 * @param {Gifs | null} [parts.gifs] Where moving pictures can be sent too, if the instance has any.
 */
export async function open({ app, anchor, guildId, onPick, gifs = null }) {
  const [all, recent, tone, service] = await Promise.all([
    unicodeEmoji(),
    storage.get(RECENT),
    storage.get(TONE),
    gifs && app.acts.gifs.service(),
  ]);
  let skin = Number(tone ?? 0);
  /** @type {ReadonlySet<string>} */
  let hidden = new Set();
  const search = h("input", {
    class: "input",
    type: "search",
    "data-first": "",
    autocomplete: "off",
    spellcheck: "false",
  });
  search.setAttribute("aria-label", t("emoji.search"));
  search.placeholder = t("emoji.search");
  const shown = h("p", { class: "emoji-shown small muted", "aria-hidden": "true" }, t("emoji.choose"));
  const grid = makeGrid({
    pick,
    look: (choice) => fill(shown, h("bdi", {}, choice.text === "" ? choice.label : `${choice.text} ${choice.label}`)),
  });
  const tones = h("button", { type: "button", class: "tone", click: nextTone });
  const element = h(
    "div",
    { class: "emoji-picker" },
    h("div", { class: "emoji-head" }, search, tones),
    grid.element,
    shown,
  );

  /** @param {Choice} choice */
  function pick(choice) {
    const kept = [choice.picked, ...(recent ?? [])].filter(
      (one, at, list) => list.findIndex((other) => other.text === one.text) === at,
    );
    void storage.put(RECENT, kept.slice(0, RECENT_MAXIMUM));
    close();
    onPick(choice.picked);
  }

  function nextTone() {
    skin = (skin + 1) % HANDS.length;
    void storage.put(TONE, skin);
    draw();
  }

  function draw() {
    tones.textContent = HANDS[skin] ?? "";
    const label = t("emoji.tone", { n: skin + 1, all: HANDS.length });
    tones.setAttribute("aria-label", label);
    tones.title = label;
    const sections = [...recentSection(recent ?? []), ...own(app, guildId), ...standard(all, skin, hidden)];
    grid.show(found(sections, search.value));
  }

  search.addEventListener("input", draw);
  search.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") {
      event.preventDefault();
      grid.focus();
    } else if (event.key === "Enter") {
      event.preventDefault();
      grid.pickFirst();
    }
  });
  draw();
  const plain = Object.values(all).flatMap((rows) => rows.map(([emoji]) => emoji));
  void undrawn(plain).then((found) => {
    hidden = found;
    if (found.size > 0 && element.isConnected) draw();
  });
  const content = gifs && service ? withGifs(gifs, service) : element;
  const close = app.layers.popover(anchor, content, { label: t("emoji.name") });

  /** @param {Gifs} gifs @param {string} service */
  function withGifs({ canAttach, send }, service) {
    const pick = (/** @type {import("./gifs.js").Picture} */ picture) => (close(), send(picture));
    return makeTabs(t("gifs.kinds"), [
      { label: t("gifs.emoji"), make: () => element },
      { label: t("gifs.name"), make: () => makeGifs({ app, service, canAttach, pick }) },
    ]);
  }
}

/** @param {Picked[]} recent */
function recentSection(recent) {
  const choices = recent.map(({ emoji, text }) => choiceOf(emoji, emoji.name, emoji.name, text));
  return choices.length === 0 ? [] : [{ name: t("emoji.recent"), choices }];
}

/**
 * Those of the guild where the person is come first.
 * @param {App} app
 * @param {string | null} guildId
 * @returns {Section[]}
 */
function own({ store }, guildId) {
  const guilds = [...store.read.guilds.values()].filter((guild) => guild.emojis.length > 0);
  guilds.sort((one, other) => Number(other.id === guildId) - Number(one.id === guildId));
  return guilds.map((guild) => ({
    name: plainName(guild.properties["name"]),
    choices: guild.emojis.map((entry) => {
      const emoji = { id: entry["id"], name: entry["name"], animated: Boolean(entry["animated"]) };
      return choiceOf(emoji, emoji.name, emoji.name, `<${emoji.animated ? "a" : ""}:${emoji.name}:${emoji.id}>`);
    }),
  }));
}

/**
 * @param {Record<string, Row[]>} all
 * @param {number} skin
 * @param {ReadonlySet<string>} hidden
 * @returns {Section[]}
 */
function standard(all, skin, hidden) {
  return Object.entries(all).map(([group, rows]) => ({
    name: GROUPS[group]?.() ?? group,
    choices: rows
      .filter(([plain]) => !hidden.has(plain))
      .map(([plain, label, name, words, tones]) => {
        const emoji = (skin > 0 && tones?.[skin - 1]) || plain;
        return choiceOf({ id: null, name: emoji }, label, `${name} ${label} ${words}`, emoji);
      }),
  }));
}

/**
 * @param {{id: string | null, name: string, animated?: boolean}} emoji
 * @param {string} label
 * @param {string} words
 * @param {string} text
 * @returns {Choice}
 */
function choiceOf(emoji, label, words, text) {
  const picture = emoji.id === null ? null : `/media/emojis/${emoji.id}.webp?size=48`;
  const [name = ""] = words.toLowerCase().split(" ");
  const shown = emoji.id ? "" : text;
  return { key: text, label, name, words: words.toLowerCase(), text: shown, picture, picked: { emoji, text } };
}

/**
 * What has all words of a search, each choice once.
 * @param {Section[]} sections
 * @param {string} search
 */
export function found(sections, search) {
  const wanted = search
    .trim()
    .toLowerCase()
    .replaceAll(":", "")
    .split(/[\s_]+/)
    .filter((word) => word !== "");
  if (wanted.length === 0) return sections;
  /** @type {Map<string, Choice>} */
  const choices = new Map();
  for (const choice of sections.flatMap((section) => section.choices)) {
    if (wanted.every((word) => choice.words.includes(word))) choices.set(choice.key, choice);
  }
  const nearest = [...choices.values()].sort((one, other) => rank(one, wanted) - rank(other, wanted));
  return [{ name: t("emoji.found", { n: choices.size }), choices: nearest }];
}

/**
 * The one of that name first, then what begins so, then what has such a word, then what has it within a word.
 * @param {Choice} choice
 * @param {readonly string[]} wanted
 */
function rank({ name, words }, wanted) {
  const whole = wanted.join("_");
  if (name === whole) return 0;
  if (name.startsWith(whole)) return 1;
  return wanted.every((word) => ` ${words} `.includes(` ${word} `)) ? 2 : 3;
}

/** @type {Readonly<Record<string, () => string>>} */
const GROUPS = {
  smileys: () => t("emoji.smileys"),
  people: () => t("emoji.people"),
  nature: () => t("emoji.nature"),
  food: () => t("emoji.food"),
  travel: () => t("emoji.travel"),
  activities: () => t("emoji.activities"),
  objects: () => t("emoji.objects"),
  symbols: () => t("emoji.symbols"),
  flags: () => t("emoji.flags"),
};
