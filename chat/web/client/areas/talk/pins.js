// What is pinned in a channel, the newest pin first.

import { fill, h } from "../../base/dom.js";
import { t } from "../../words/catalogue.js";
import { resultList } from "./results.js";

/** @typedef {import("../../views/shell/app.js").App} App */

/** @param {{app: App, channelId: string, anchor: Element}} parts */
export async function open({ app, channelId, anchor }) {
  const content = h("div", { class: "found", "aria-busy": "true" }, h("p", { class: "muted" }, t("results.loading")));
  const panel = h("div", { class: "found-panel", "data-pins": channelId }, h("h2", {}, t("head.pins")), content);
  const label = t("head.pins");
  const close = app.layers.popover(anchor, panel, { label, onClose: () => unwatch() });
  const unwatch = app.store.watch([`pins:${channelId}`], () => void draw());
  let newest = 0;

  async function draw() {
    const asked = (newest += 1);
    try {
      const { items } = await app.acts.messages.pins(channelId);
      if (asked !== newest || !panel.isConnected) return;
      content.ariaBusy = "false";
      const messages = items.map((item) => item.message);
      const none = h("p", { class: "muted" }, t("pins.none"));
      fill(content, messages.length === 0 ? none : resultList(app, messages, close));
      void app.acts.reads.seePins(channelId);
    } catch (error) {
      close();
      app.report(error);
    }
  }

  await draw();
}
