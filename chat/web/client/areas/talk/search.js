// Search: by words, author, time, what a message holds, in this channel or wherever the person reads.

import { fill, h } from "../../base/dom.js";
import { t } from "../../words/catalogue.js";
import { resultList } from "./results.js";

/** @typedef {import("../../views/shell/app.js").App} App */

const HOLDS = /** @type {const} */ ([
  ["", () => t("search.anything")],
  ["image", () => t("search.image")],
  ["file", () => t("search.file")],
  ["link", () => t("search.link")],
  ["video", () => t("search.video")],
  ["sound", () => t("search.sound")],
]);

/** @param {{app: App, channelId: string | null, guildId: string | null}} parts */
export function open({ app, channelId, guildId }) {
  const words = h("input", {
    class: "input",
    type: "search",
    id: "search-words",
    "data-first": "",
    autocomplete: "off",
  });
  const where = h("select", { class: "select", id: "search-where" });
  for (const [value, label] of [
    ["channel", t("search.here")],
    ["place", guildId === null ? t("search.conversations") : t("search.guild")],
    ["all", t("search.everywhere")],
  ]) {
    where.append(h("option", { value: String(value) }, String(label)));
  }
  where.value = "place";
  const holds = h("select", { class: "select", id: "search-holds" });
  for (const [value, label] of HOLDS) holds.append(h("option", { value }, label()));
  const author = h("input", { class: "input", id: "search-author", autocomplete: "off", list: "search-people" });
  const people = h("datalist", { id: "search-people" });
  for (const user of app.store.read.users.values())
    if (user.username) people.append(h("option", { value: user.username }));
  const since = h("input", { class: "input", type: "date", id: "search-since" });
  const found = h("div", { class: "found", role: "status" });
  const content = h(
    "div",
    { class: "search" },
    field("search-words", t("search.words"), words),
    h(
      "div",
      { class: "search-filters" },
      field("search-where", t("search.where"), where),
      field("search-holds", t("search.holds"), holds),
      field("search-author", t("search.author"), author),
      field("search-since", t("search.since"), since),
    ),
    people,
    found,
  );
  const close = app.layers.dialog({
    title: t("head.search"),
    content,
    wide: true,
    actions: [{ label: t("head.search"), run: () => search(1) }],
  });

  /** @param {number} page @returns {Promise<false>} the dialog stays */
  async function search(page) {
    const person = [...app.store.read.users.values()].find((user) => user.username === author.value.trim());
    const body = {
      ...(words.value.trim() && { content: words.value.trim() }),
      ...(holds.value && { has: [holds.value] }),
      ...(person && { author_id: [person.id] }),
      ...(since.value && { after: new Date(since.value).toISOString() }),
      ...scope(),
      page,
      include_nsfw: true,
    };
    const result = await app.acts.messages.search(body);
    const count = h("p", { class: "muted" }, t("search.found", { n: result.total }));
    const more = result.total > page * result.hits_per_page;
    const next = h(
      "button",
      { type: "button", class: "button", click: () => void search(page + 1).catch(app.report) },
      t("search.more"),
    );
    fill(found, count, resultList(app, result.messages, close), ...(more ? [next] : []));
    return false;
  }

  function scope() {
    if (where.value === "channel" && channelId !== null)
      return { scope: "current", channel_id: [channelId], context_channel_id: channelId };
    if (where.value === "all") return { scope: "all" };
    return guildId === null ? { scope: "all_dms" } : { scope: "current", context_guild_id: guildId };
  }
}

/**
 * @param {string} id
 * @param {string} label
 * @param {HTMLElement} control
 */
function field(id, label, control) {
  return h("div", { class: "field" }, h("label", { for: id }, label), control);
}
