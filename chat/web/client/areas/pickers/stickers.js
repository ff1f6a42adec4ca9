// Picks a sticker of the person's guilds: those of the guild where the person is come first.

import { fill, h } from "../../base/dom.js";
import { BITS, may } from "../../store/permissions.js";
import { t } from "../../words/catalogue.js";
import { plainName } from "../../views/names/people.js";
import { found } from "./emoji.js";
import { makeGrid } from "./grid.js";

/** @typedef {import("../../views/shell/app.js").App} App */

const COLUMNS = 4;

/**
 * @param {object} parts
 * @param {App} parts.app
 * @param {Element} parts.anchor
 * @param {string} parts.channelId
 * @param {(stickerId: string) => void} parts.onPick
 */
export function open({ app, anchor, channelId, onPick }) {
  const sections = stickersIn(app, channelId);
  const search = h("input", { class: "input", type: "search", "data-first": "", autocomplete: "off" });
  search.setAttribute("aria-label", t("stickers.search"));
  search.placeholder = t("stickers.search");
  const shown = h("p", { class: "emoji-shown small muted", "aria-hidden": "true" }, t("stickers.choose"));
  const pick = (/** @type {import("./emoji.js").Choice} */ choice) => (close(), onPick(choice.key));
  const look = (/** @type {import("./emoji.js").Choice} */ choice) => fill(shown, h("bdi", {}, choice.label));
  const grid = makeGrid({ pick, look, columns: COLUMNS });
  const draw = () => grid.show(found(sections, search.value));
  search.addEventListener("input", draw);
  search.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowDown") return;
    event.preventDefault();
    grid.focus();
  });
  draw();
  const none = h("p", { class: "muted sticker-none" }, t("stickers.none"));
  const content = sections.length > 0 ? [grid.element, shown] : [none];
  const element = h(
    "div",
    { class: "emoji-picker sticker-picker" },
    h("div", { class: "emoji-head" }, search),
    ...content,
  );
  const close = app.layers.popover(anchor, element, { label: t("composer.sticker") });
}

/**
 * @param {App} app
 * @param {string} channelId
 * @returns {import("./emoji.js").Section[]}
 */
function stickersIn({ store }, channelId) {
  const channel = store.read.channels.get(channelId);
  const here = channel?.guild_id ?? null;
  const mayForeign = here === null || (channel !== undefined && may(store.read, channel, BITS.USE_EXTERNAL_STICKERS));
  const guilds = [...store.read.guilds.values()]
    .filter((guild) => guild.stickers.length > 0 && (guild.id === here || mayForeign))
    .sort((one, other) => Number(other.id === here) - Number(one.id === here));
  return guilds.map((guild) => ({
    name: plainName(guild.properties["name"]),
    choices: guild.stickers.map((sticker) => ({
      key: sticker["id"],
      label: plainName(sticker["name"]),
      name: sticker["name"].toLowerCase(),
      words: `${sticker["name"]} ${sticker["description"] ?? ""} ${(sticker["tags"] ?? []).join(" ")}`.toLowerCase(),
      text: "",
      picture: `/media/stickers/${sticker["id"]}.webp?size=160`,
      picked: { emoji: { id: null, name: sticker["name"] }, text: "" },
    })),
  }));
}
