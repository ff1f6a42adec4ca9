// The threads of a channel: those that go on, those that are archived, and a new one.

import { fill, h } from "../../base/dom.js";
import { icon } from "../../base/icon.js";
import { BITS, may } from "../../store/permissions.js";
import { t } from "../../words/catalogue.js";
import { plainName } from "../../views/names/people.js";
import { startThread } from "./new_thread.js";

/** @typedef {import("../../views/shell/app.js").App} App */

/** @param {{app: App, channelId: string, guildId: string, anchor: Element}} parts */
export async function open({ app, channelId, guildId, anchor }) {
  const content = h("div", { class: "found", "aria-busy": "true" }, h("p", { class: "muted" }, t("results.loading")));
  const channel = app.store.read.channels.get(channelId);
  const mayStart = channel !== undefined && may(app.store.read, channel, BITS.CREATE_PUBLIC_THREADS);
  const start = () => (close(), startThread(app, guildId, channelId, null));
  const make = h(
    "button",
    { type: "button", class: "button small-button", click: start },
    icon("add"),
    t("threads.start"),
  );
  const head = h("div", { class: "found-head" }, h("h2", {}, t("head.threads")), ...(mayStart ? [make] : []));
  const close = app.layers.popover(anchor, h("div", { class: "found-panel" }, head, content), {
    label: t("head.threads"),
  });
  try {
    const [active, archived] = await Promise.all([
      app.acts.threads.search(channelId, { archived: false, limit: 25 }),
      app.acts.threads.search(channelId, { archived: true, limit: 25 }),
    ]);
    content.ariaBusy = "false";
    const none = active.threads.length + archived.threads.length === 0;
    fill(
      content,
      ...(none ? [h("p", { class: "muted" }, t("threads.none"))] : []),
      ...part(t("threads.active"), active.threads),
      ...part(t("threads.archived"), archived.threads),
    );
  } catch (error) {
    close();
    app.report(error);
  }

  /**
   * @param {string} title
   * @param {import("wire").Thread[]} threads
   */
  function part(title, threads) {
    if (threads.length === 0) return [];
    const list = h("ul", { class: "thread-list" });
    for (const thread of threads) {
      const link = h("a", { class: "channel-link", href: `/channels/${guildId}/${thread.id}` }, icon("thread"));
      link.append(
        h("bdi", { class: "clip" }, plainName(thread.name)),
        h("span", { class: "meta" }, t("message.thread_count", { n: thread.message_count ?? 0 })),
      );
      link.addEventListener("click", (event) => {
        event.preventDefault();
        close();
        app.go(`/channels/${guildId}/${thread.id}`);
      });
      list.append(h("li", {}, link));
    }
    return [h("h3", { class: "meta" }, title), list];
  }
}
