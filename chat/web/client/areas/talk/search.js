// Search: by words, author, time, what a message holds, in this channel or wherever the person reads.

import { fill, h } from "../../base/dom.js";
import { t } from "../../words/catalogue.js";
import { nameOf, tagOf } from "../../views/names/people.js";
import { resultList } from "./results.js";

/** @typedef {import("../../views/shell/app.js").App} App */
/** @typedef {import("wire").Body<"POST", "/v1/search/messages">} Search */

const HOLDS = /** @type {const} */ ([
  ["", () => t("search.anything")],
  ["image", () => t("search.image")],
  ["file", () => t("search.file")],
  ["link", () => t("search.link")],
  ["video", () => t("search.video")],
  ["sound", () => t("search.sound")],
]);

/** How many people are suggested, and how long the search waits for members it does not know. */
const SUGGESTED = 20;
const ASKED_MS = 1500;

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

  const { store, acts } = app;
  const known = () => [...store.read.users.values()].filter((user) => user.username);

  /** Who could be meant: members that nobody told of are asked for while one writes. */
  function suggest() {
    author.setCustomValidity("");
    const word = author.value.trim().toLowerCase();
    if (guildId !== null && word !== "") acts.members.find(guildId, word);
    const meant = known().filter((user) => word !== "" && namesOf(user).some((name) => name.startsWith(word)));
    const options = meant.slice(0, SUGGESTED).map((user) => {
      return h("option", { value: tagOf(user), label: nameOf({ store, guildId }, user) });
    });
    fill(people, ...options);
  }

  /** @param {import("../../store/shapes.js").User} user */
  function namesOf(user) {
    const names = [user.username, tagOf(user), user.global_name, nameOf({ store, guildId }, user), user.id];
    return names.map((name) => (name ?? "").toLowerCase());
  }

  /** Those who are called so; the members of the community are asked for once more. */
  async function authors() {
    const word = author.value.trim().replace(/^@/, "").toLowerCase();
    const called = () => known().filter((user) => namesOf(user).includes(word));
    if (called().length > 0 || guildId === null) return called();
    acts.members.find(guildId, word);
    await new Promise((resolve) => {
      const unwatch = store.watch([`guild:${guildId}`], () => called().length > 0 && done());
      const timer = setTimeout(done, ASKED_MS);
      function done() {
        clearTimeout(timer);
        unwatch();
        resolve(null);
      }
    });
    return called();
  }

  author.addEventListener("input", suggest);

  let asked = 0;

  /** @param {number} page @returns {Promise<false>} the dialog stays */
  async function search(page) {
    const mine = (asked += 1);
    const people = author.value.trim() === "" ? null : await authors();
    if (people?.length === 0) {
      author.setCustomValidity(t("search.nobody"));
      author.reportValidity();
      return false;
    }
    const body = {
      ...(words.value.trim() && { content: words.value.trim() }),
      ...(holds.value && { has: [holds.value] }),
      ...(people && { author_id: people.map(({ id }) => id) }),
      ...(since.value && { after: new Date(since.value).toISOString() }),
      ...scope(),
      page,
      include_nsfw: true,
    };
    const result = await app.acts.messages.search(/** @type {Search} */ (body));
    // The words have changed meanwhile.
    if (mine !== asked) return false;
    if ("indexing" in result) {
      fill(found, h("p", { class: "muted" }, t("search.indexing")));
      return false;
    }
    const count = h("p", { class: "muted" }, t("search.found", { n: result.total }));
    const more = result.total > page * result.hits_per_page;
    const next = h(
      "button",
      { type: "button", class: "button", click: () => void search(page + 1).catch(app.report) },
      t("search.more"),
    );
    fill(found, count, resultList(app, result.messages, close, words.value), ...(more ? [next] : []));
    return false;
  }

  /** @returns {Partial<Search>} */
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
