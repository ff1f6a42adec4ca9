// Picks a moving picture: those that the person keeps, those that are popular, and those that are found by words at the
// service that the operator has named. This server asks it and hands out the pictures, so the service sees nobody.

import { fileAddress } from "../../base/address.js";
import { keepsStill } from "../../base/appearance.js";
import { fill, h } from "../../base/dom.js";
import { t } from "../../words/catalogue.js";
import { makeGrid } from "./grid.js";

/** @typedef {import("../../views/shell/app.js").App} App */
/** @typedef {import("./emoji.js").Choice} Choice */
/** @typedef {import("./emoji.js").Section} Section */
/** @typedef {{content: string, meme?: string}} Picture What is sent: an address, or one that is kept. */

const COLUMNS = 3;
const TYPING_MS = 350;
const SIDE = 240;
/** Before the key of one that is kept. */
const KEPT = "kept:";

/**
 * @param {object} parts
 * @param {App} parts.app
 * @param {string} parts.service What the service is called.
 * @param {boolean} parts.canAttach Whether those that are kept may be sent here.
 * @param {(picture: Picture) => void} parts.pick
 */
export function makeGifs({ app, service, canAttach, pick }) {
  const { store, acts, layers } = app;
  const search = h("input", { class: "input", type: "search", autocomplete: "off", maxlength: "100" });
  search.setAttribute("aria-label", t("gifs.search", { name: service }));
  search.placeholder = t("gifs.search", { name: service });
  const shown = h("span", { class: "clip", "aria-hidden": "true" });
  const said = h("p", { class: "gif-said small muted", role: "status" });
  const grid = makeGrid({
    pick: (choice) => pick(pictureOf(choice)),
    look: (choice) => fill(shown, h("bdi", {}, choice.label)),
    menu: offer,
    columns: COLUMNS,
  });
  const more = button(t("gifs.more"), () => void load(false));
  const again = button(t("gifs.again"), () => void load(true));
  const source = h("span", { class: "gif-source" }, t("gifs.source", { name: service }));
  const foot = h("div", { class: "emoji-shown gif-foot small muted" }, shown, source);
  const element = h(
    "div",
    { class: "emoji-picker gif-picker" },
    h("div", { class: "emoji-head" }, search),
    said,
    grid.element,
    h("div", { class: "gif-more" }, more, again),
    foot,
  );
  /** @type {import("wire").Gif[]} */
  let found = [];
  /** @type {string | null} */
  let next = null;
  let asked = 0;
  let words = "";

  function draw() {
    const name = words === "" ? t("gifs.popular") : t("gifs.found", { n: found.length });
    const sections = [...kept(), { name, choices: found.map(choiceOf) }];
    grid.show(sections.filter(({ choices }) => choices.length > 0));
  }

  /** @returns {Section[]} */
  function kept() {
    if (!canAttach) return [];
    const memes = store.read.memes.filter((meme) => meme["content_type"].startsWith("image/"));
    const choices = memes.reverse().map((meme) => {
      const label = meme["alt_text"] || meme["name"];
      return choiceWith(`${KEPT}${meme["id"]}`, label, meme["url"]);
    });
    const sought = words.toLowerCase();
    return [{ name: t("gifs.kept"), choices: choices.filter((one) => one.words.includes(sought)) }];
  }

  /** @param {boolean} isNew Whether what was found before goes. */
  async function load(isNew) {
    const turn = (asked += 1);
    words = search.value.trim();
    again.hidden = true;
    more.hidden = true;
    fill(said, t("gifs.searching"));
    const language = document.documentElement.lang.slice(0, 2);
    try {
      const page = await acts.gifs.find(words, language, isNew ? null : next);
      if (turn !== asked) return;
      const before = isNew ? 0 : found.length;
      found = isNew ? page.gifs : [...found, ...page.gifs];
      next = page.next;
      draw();
      fill(said, found.length === 0 ? t("gifs.none") : "");
      if (!isNew) grid.focus(grid.count() - (found.length - before));
    } catch {
      if (turn !== asked) return;
      if (isNew) found = [];
      draw();
      fill(said, t("gifs.failed", { name: service }));
      again.hidden = false;
    }
    more.hidden = next === null || found.length === 0 || !again.hidden;
  }

  /** What can be done with a picture beside sending it. @param {Choice} choice @param {Element} spot */
  function offer(choice, spot) {
    const send = { label: t("gifs.send"), icon: "send", run: () => pick(pictureOf(choice)) };
    const isKept = choice.key.startsWith(KEPT);
    const change = isKept
      ? { label: t("gifs.forget"), icon: "delete", run: () => void forget(choice) }
      : { label: t("gifs.keep"), icon: "bookmark", run: () => void keep(choice) };
    layers.menu(spot, [send, ...(canAttach ? [change] : [])], choice.label);
  }

  /** @param {Choice} choice */
  async function keep(choice) {
    try {
      await acts.gifs.keep(choice.key, choice.label);
      app.announce(t("gifs.is_kept"));
      fill(said, t("gifs.is_kept"));
    } catch (error) {
      app.report(error);
    }
  }

  /** @param {Choice} choice */
  async function forget(choice) {
    await acts.gifs.forget(choice.key.slice(KEPT.length)).catch(app.report);
  }

  const unwatch = store.watch(["me"], () => (element.isConnected ? draw() : unwatch()));
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  search.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => void load(true), TYPING_MS);
  });
  search.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowDown") return;
    event.preventDefault();
    grid.focus(0);
  });
  draw();
  void load(true);
  return element;
}

/** @param {Choice} choice @returns {Picture} */
function pictureOf({ key }) {
  return key.startsWith(KEPT) ? { content: "", meme: key.slice(KEPT.length) } : { content: key };
}

/** @param {import("wire").Gif} gif @returns {Choice} */
function choiceOf({ url, title, preview_url: preview }) {
  return choiceWith(url, title || t("gifs.untitled"), preview);
}

/** @param {string} key @param {string} label @param {string} address @returns {Choice} */
function choiceWith(key, label, address) {
  const { pathname, search } = new URL(fileAddress(address), location.href);
  const query = new URLSearchParams(search);
  query.set("size", String(SIDE));
  query.set("animated", String(!keepsStill()));
  const picture = `${pathname}?${query}`;
  const picked = { emoji: { id: null, name: label }, text: "" };
  return { key, label, name: label.toLowerCase(), words: label.toLowerCase(), text: "", picture, picked };
}

/** @param {string} label @param {() => void} press */
function button(label, press) {
  return h("button", { type: "button", class: "button small-button", click: press }, label);
}
