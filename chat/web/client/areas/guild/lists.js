// A page of settings that is a list: fetched, each row with what can be done to it.

import { fill, h } from "../../base/dom.js";
import { load } from "../../views/settings/loading.js";
import { t } from "../../words/catalogue.js";

/** @typedef {import("../../views/shell/app.js").App} App */

/**
 * @template Entry
 * @param {App} app
 * @param {object} parts
 * @param {() => Promise<Entry[]>} parts.load
 * @param {(entry: Entry) => {words: Node[], label: string, remove: () => Promise<unknown>}} parts.row
 * @param {string} parts.none What is said of an empty list.
 * @param {Node[]} [parts.above]
 */
export function listPage(app, { load: entriesOf, row, none, above = [] }) {
  const list = h("ul", { class: "guild-set-rows" });
  const element = h("div", { class: "guild-set-card" }, ...above, list);

  async function draw() {
    const entries = await entriesOf();
    fill(list, ...(entries.length > 0 ? entries.map(item) : [h("li", { class: "muted" }, none)]));
  }

  /** @param {Entry} entry */
  function item(entry) {
    const { words, label, remove } = row(entry);
    const press = () => void remove().then(draw, app.report);
    const button = h(
      "button",
      { type: "button", class: "button small-button danger", "aria-label": label, click: press },
      t("settings.remove"),
    );
    return h("li", {}, h("span", { class: "panel-words" }, ...words), button);
  }

  fill(list, h("li", { class: "muted" }, t("results.loading")));
  load(app, draw);
  return { element, draw };
}
