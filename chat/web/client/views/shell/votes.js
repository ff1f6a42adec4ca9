// What a person does with the poll of a message: votes, takes the vote back, looks who voted, ends their own.

import { h } from "../../base/dom.js";
import { t } from "../../words/catalogue.js";

/** @typedef {import("./app.js").App} App */
/** @typedef {import("wire").Message} Message */

/** What the buttons of a poll do. */
export const POLL_ACTS = new Set(["vote", "unvote", "voters", "end-poll"]);

/** @param {{app: App, guildId: string | null}} parts */
export function makeVotes({ app, guildId }) {
  const { acts } = app;

  /** @param {Message} message @param {number[]} answers */
  const vote = (message, answers) => acts.polls.vote(message.channel_id, message.id, answers);

  /** @param {Message} message */
  function end(message) {
    app.layers.dialog({
      title: t("poll.end_title"),
      content: h("p", { class: "muted" }, t("poll.end_question")),
      actions: [{ label: t("poll.end"), run: () => acts.polls.end(message.channel_id, message.id) }],
    });
  }

  /**
   * @param {string} act
   * @param {Message} message
   * @param {HTMLElement} source The button.
   */
  return (act, message, source) => {
    if (act === "voters") return app.open("voters", { message, guildId });
    if (act === "end-poll") return end(message);
    if (act === "unvote") return void vote(message, []).catch(app.report);
    const chosen = source.closest(".poll")?.querySelectorAll("input:checked") ?? [];
    const answers = [...chosen].map((box) => Number(/** @type {HTMLInputElement} */ (box).value));
    if (answers.length === 0) return void app.layers.toast(t("poll.choose"));
    void vote(message, answers).catch(app.report);
  };
}
