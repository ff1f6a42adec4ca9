// Who reacted to a message, by emoji.

import { fill, h } from "../../base/dom.js";
import { t } from "../../words/catalogue.js";
import { emoji as pictureOf } from "../../views/messages/body.js";
import { avatarAddress, nameOf } from "../../views/names/people.js";

/** @typedef {import("../../views/shell/app.js").App} App */

const SHOWN_MAXIMUM = 100;

/**
 * @param {object} parts
 * @param {App} parts.app
 * @param {string} parts.channelId
 * @param {string | null} parts.guildId
 * @param {import("wire").Message} parts.message
 */
export function open({ app, channelId, guildId, message }) {
  const { store, acts, layers } = app;
  const tabs = h("div", { class: "tabs", role: "group", "aria-label": t("message.reactions") });
  const list = h("ul", { class: "thread-list" });

  /** @param {import("wire").Reaction} one @param {Element} tab */
  async function show(one, tab) {
    for (const other of tabs.children) other.setAttribute("aria-pressed", String(other === tab));
    fill(list, h("li", { class: "muted" }, t("results.loading")));
    try {
      const users = await acts.messages.reactors(channelId, message.id, one.emoji, SHOWN_MAXIMUM);
      const more = one.count - users.length;
      if (tab.getAttribute("aria-pressed") === "true") fill(list, ...users.map(row), ...(more > 0 ? [rest(more)] : []));
    } catch (error) {
      app.report(error);
    }
  }

  /** @param {number} n */
  function rest(n) {
    return h("li", { class: "muted" }, t("message.more_reactors", { n }));
  }

  /** @param {import("../../store/shapes.js").User} user */
  function row(user) {
    const face = h("img", { class: "avatar tiny", alt: "", width: "24", height: "24", src: avatarAddress(user, 80) });
    return h("li", { class: "check" }, face, h("bdi", { class: "clip" }, nameOf({ store, guildId }, user)));
  }

  const { reactions = [] } = message;
  const made = reactions.map((one) => {
    const { id, name, animated } = one.emoji;
    const shown = id ? pictureOf({ id, name, animated: animated === true }) : name;
    const tab = h("button", { type: "button", class: "tab", click: () => void show(one, tab) }, shown, ` ${one.count}`);
    tab.setAttribute("aria-label", t("message.reaction", { n: one.count, name }));
    return tab;
  });
  tabs.append(...made);
  layers.dialog({ title: t("menu.reactors"), content: h("div", {}, tabs, list) });
  if (reactions[0] && made[0]) void show(reactions[0], made[0]);
}
