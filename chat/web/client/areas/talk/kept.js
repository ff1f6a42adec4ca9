// Messages that the account has saved, and those that mention it.

import { fill, h } from "../../base/dom.js";
import { t } from "../../words/catalogue.js";
import { resultList } from "./results.js";

/** @typedef {import("../../views/shell/app.js").App} App */

/** @param {{app: App, which: "saved" | "mentions", anchor: Element}} parts */
export async function open({ app, which, anchor }) {
  const { messages } = app.acts;
  const isSaved = which === "saved";
  const title = isSaved ? t("kept.saved") : t("kept.mentions");
  const content = h("div", { class: "found", "aria-busy": "true" }, h("p", { class: "muted" }, t("results.loading")));
  const close = app.layers.popover(anchor, h("div", { class: "found-panel" }, h("h2", {}, title), content), {
    label: title,
  });
  try {
    const shown = isSaved
      ? (await messages.saved()).flatMap(({ message }) => message ?? [])
      : await messages.mentions();
    content.ariaBusy = "false";
    const none = isSaved ? t("kept.none_saved") : t("kept.none_mentions");
    fill(content, shown.length === 0 ? h("p", { class: "muted" }, none) : resultList(app, shown, close));
  } catch (error) {
    close();
    app.report(error);
  }
}
