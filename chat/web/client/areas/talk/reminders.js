// Messages of which the account is reminded, those that fell due first; each leads to its message, or says why not.

import { fill, h } from "../../base/dom.js";
import { quoted } from "../../views/names/quoted.js";
import { nameOfChannel } from "../../views/names/channels.js";
import { nameOf } from "../../views/names/people.js";
import { t } from "../../words/catalogue.js";
import { dayAndClock } from "../../words/dates.js";

/** @typedef {import("../../views/shell/app.js").App} App */
/** @typedef {import("../../acts/reminders.js").Reminder} Reminder */

/** @param {{app: App}} parts */
export function open({ app }) {
  const list = h("ul", { class: "scheduled", "aria-busy": "true" });
  const none = h("p", { class: "muted" }, t("results.loading"));
  const title = t("reminders.title");
  const close = app.layers.dialog({ title, content: h("div", {}, none, list), wide: true });

  let asked = 0;

  async function draw() {
    const mine = (asked += 1);
    try {
      const all = await app.acts.reminders.all();
      if (mine !== asked) return;
      none.textContent = t("reminders.none");
      none.hidden = all.length > 0;
      fill(list, ...all.map(row));
    } catch (error) {
      app.report(error);
    }
    list.ariaBusy = "false";
  }

  /** @param {Reminder} one */
  function row(one) {
    const { store } = app;
    const channel = store.read.channels.get(one.channel_id);
    const guildId = channel?.guild_id ?? null;
    const place = { store, guildId };
    const words = wordsOf(one, place);
    const when = dayAndClock(Date.parse(one.remind_at));
    const path = `/channels/${guildId ?? "@me"}/${one.channel_id}/${one.message_id}`;
    const button = (/** @type {string} */ label, /** @type {() => void} */ click, kind = "") =>
      h("button", { type: "button", class: `button ${kind}`, "aria-label": `${label}: ${words}`, click }, label);
    const remove = () => void app.acts.reminders.remove(one.message_id).then(draw, app.report);
    return h(
      "li",
      { class: "scheduled-row" },
      h(
        "p",
        { class: "meta" },
        ...(channel ? [h("bdi", {}, `${guildId ? "#" : ""}${nameOfChannel(store.read, channel)}`), " \u00b7 "] : []),
        one.told_at === null ? when : h("strong", {}, t("reminders.due", { when })),
      ),
      h("p", { class: "scheduled-words", dir: "auto" }, words),
      h(
        "div",
        { class: "scheduled-acts" },
        ...(one.message ? [button(t("later.show"), () => (close(), app.go(path)))] : []),
        button(t("reminders.remove"), remove, "danger"),
      ),
    );
  }

  void draw();
}

/**
 * @param {Reminder} one
 * @param {{store: import("../../store/store.js").Store, guildId: string | null}} place
 */
function wordsOf({ status, message }, place) {
  if (message) {
    const said = quoted(message.content, place) || t("notices.no_text");
    return `${nameOf(place, message.author)}: ${said}`;
  }
  return status === "deleted" ? t("reminders.deleted") : t("reminders.unseen");
}
