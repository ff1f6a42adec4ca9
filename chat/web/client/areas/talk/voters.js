// Who voted in a poll, by answer.

import { fill, h } from "../../base/dom.js";
import { t } from "../../words/catalogue.js";
import { wordsOf } from "../../views/messages/poll.js";
import { avatarAddress, nameOf } from "../../views/names/people.js";

/** @typedef {import("../../views/shell/app.js").App} App */

/** @param {{app: App, guildId: string | null, message: import("wire").Message}} parts */
export function open({ app, guildId, message }) {
  const { poll } = message;
  if (!poll) return;
  const tabs = h("div", { class: "tabs poll-tabs", role: "group", "aria-label": t("poll.voters") });
  const list = h("ul", { class: "thread-list" });

  /** @param {import("../../views/messages/poll.js").Answer} answer @param {number} count @param {Element} tab */
  async function show(answer, count, tab) {
    for (const other of tabs.children) other.setAttribute("aria-pressed", String(other === tab));
    fill(list, h("li", { class: "muted" }, t("results.loading")));
    try {
      const users = await app.acts.polls.voters(message.channel_id, message.id, answer.answer_id);
      if (tab.getAttribute("aria-pressed") !== "true") return;
      const more = count - users.length;
      const rest = more > 0 ? [h("li", { class: "muted" }, t("message.more_reactors", { n: more }))] : [];
      const none = users.length === 0 ? [h("li", { class: "muted" }, t("poll.votes", { n: 0 }))] : [];
      fill(list, ...none, ...users.map(row), ...rest);
    } catch (error) {
      app.report(error);
    }
  }

  /** @param {import("wire").PartialUser} user */
  function row(user) {
    const face = h("img", { class: "avatar tiny", alt: "", width: "24", height: "24", src: avatarAddress(user, 80) });
    return h("li", { class: "check" }, face, h("bdi", { class: "clip" }, nameOf({ store: app.store, guildId }, user)));
  }

  const counts = new Map(poll.results.answer_counts.map((one) => [one.id, one.count]));
  const made = poll.answers.map((answer) => {
    const n = counts.get(answer.answer_id) ?? 0;
    const tab = h("button", { type: "button", class: "tab", click: () => void show(answer, n, tab) });
    tab.append(h("bdi", { class: "clip" }, wordsOf(answer)), h("span", { class: "meta" }, t("poll.votes", { n })));
    return tab;
  });
  tabs.append(...made);
  app.layers.dialog({ title: t("poll.voters"), content: h("div", {}, tabs, list) });
  if (poll.answers[0] && made[0]) void show(poll.answers[0], counts.get(poll.answers[0].answer_id) ?? 0, made[0]);
}
