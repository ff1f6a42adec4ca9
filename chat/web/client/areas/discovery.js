// Communities that all may join: found by their words and what they are about.

import { fill, h } from "../base/dom.js";
import { t } from "../words/catalogue.js";
import { visit } from "../views/dialogs/new_guild.js";
import { categoryWords } from "../views/names/categories.js";
import { faceOf } from "../views/names/guilds.js";
import { plainName } from "../views/names/people.js";

/** @typedef {import("../views/shell/app.js").App} App */

const PAGE = 24;
/** How long after the last letter the search begins. */
const LOOK_MS = 300;

/** @param {{app: App}} parts */
export async function open({ app }) {
  const { acts, store, layers } = app;
  const search = h("input", { class: "input", type: "search", id: "discovery-search", maxlength: "100" });
  const category = h("select", { class: "select", id: "discovery-category" });
  category.append(h("option", { value: "" }, t("discovery.all")));
  const list = h("ul", { class: "guild-set-rows discovery-list" });
  const said = h("p", { class: "muted small", role: "status" }, t("results.loading"));
  const more = h("button", { type: "button", class: "button", hidden: "", click: () => void look(false) });
  more.textContent = t("discovery.more");
  const content = h(
    "div",
    {},
    h("div", { class: "field" }, h("label", { for: "discovery-search" }, t("discovery.search")), search),
    h("div", { class: "field" }, h("label", { for: "discovery-category" }, t("discovery.category")), category),
    said,
    list,
    more,
  );
  const close = layers.dialog({ title: t("discovery.title"), content, wide: true });
  let asked = 0;
  let timer = 0;

  /** @param {boolean} isNew Whether the list begins again. */
  async function look(isNew) {
    const mine = (asked += 1);
    try {
      const offset = isNew ? 0 : list.childElementCount;
      const wanted = { limit: PAGE, offset, query: search.value.trim() || null, category: category.value || null };
      const { guilds, total } = await acts.guilds.discover(wanted);
      if (mine !== asked) return;
      if (isNew) fill(list);
      list.append(...guilds.map(row));
      fill(said, total === 0 ? t("discovery.none") : t("discovery.found", { n: total }));
      more.hidden = list.childElementCount >= total;
    } catch (error) {
      app.report(error);
    }
  }

  /** @param {import("wire").DiscoveredGuild} guild */
  function row(guild) {
    const name = plainName(guild.name);
    const isIn = store.read.guilds.has(guild.id);
    const press = () => void enter(guild.id).catch(app.report);
    const label = isIn ? t("discovery.visit_it", { name }) : t("discovery.join_it", { name });
    const button = h("button", { type: "button", class: "button small-button", "aria-label": label, click: press });
    button.append(isIn ? t("discovery.visit") : t("discovery.join"));
    const face = h("span", { class: "guild-set-face small-face", "aria-hidden": "true" });
    face.append(faceOf(guild));
    const counts = t("discovery.counts", { n: guild.member_count, online: guild.online_count });
    const about = guild.category_id === null ? counts : `${categoryWords(guild.category_id)} \u00b7 ${counts}`;
    const words = h("span", { class: "panel-words" }, h("strong", {}, h("bdi", {}, name)));
    words.append(h("bdi", { class: "small" }, plainName(guild.description ?? "")), h("span", { class: "meta" }, about));
    return h("li", {}, face, words, button);
  }

  /** @param {string} id */
  async function enter(id) {
    if (!store.read.guilds.has(id)) await acts.guilds.joinDiscovered(id);
    close();
    visit(app, id);
  }

  search.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => void look(true), LOOK_MS);
  });
  category.addEventListener("change", () => void look(true));
  try {
    for (const { id } of await acts.guilds.categories()) {
      category.append(h("option", { value: `${id}` }, categoryWords(id)));
    }
  } catch (error) {
    app.report(error);
  }
  await look(true);
}
