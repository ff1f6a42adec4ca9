// What is pinned in a channel, the newest pin first.

import { fill, h } from "../../base/dom.js";
import { t } from "../../words/catalogue.js";
import { resultList } from "./results.js";

/** @typedef {import("../../views/shell/app.js").App} App */

/** @param {{app: App, channelId: string, anchor: Element}} parts */
export async function open({ app, channelId, anchor }) {
  const content = h("div", { class: "found", "aria-busy": "true" }, h("p", { class: "muted" }, t("results.loading")));
  const close = app.layers.popover(anchor, h("div", { class: "found-panel" }, h("h2", {}, t("head.pins")), content), {
    label: t("head.pins"),
  });
  try {
    const { items } = await app.acts.messages.pins(channelId);
    content.ariaBusy = "false";
    const messages = items.map((item) => item.message);
    fill(
      content,
      messages.length === 0 ? h("p", { class: "muted" }, t("pins.none")) : resultList(app, messages, close),
    );
    void app.acts.reads.seePins(channelId);
  } catch (error) {
    close();
    app.report(error);
  }
}
