// The poll of a message: what may be answered, or, after the reader's vote and at its end, how many answered what.

import { h } from "../../base/dom.js";
import { icon } from "../../base/icon.js";
import { t } from "../../words/catalogue.js";
import { dayAndClock } from "../../words/dates.js";
import { sign } from "./components.js";
import { plainName } from "../names/people.js";

/** @typedef {NonNullable<import("wire").Message["poll"]>} Poll */
/** @typedef {Poll["answers"][number]} Answer */

/** @type {Map<string, Set<number>>} What is chosen and not given yet, by message: a row may be drawn anew meanwhile. */
const CHOSEN = new Map();

/** Whether its counts are shown. @param {Poll} poll */
export function hasResults({ results }) {
  return results.is_finalized || results.answer_counts.some((one) => one.me_voted);
}

/** The words of an answer; its emoji where it has none. @param {Answer} answer */
export function wordsOf({ poll_media: media }) {
  return plainName(media.text ?? media.emoji?.name ?? "");
}

/**
 * @param {Poll} poll
 * @param {string} messageId
 * @param {boolean} isMine Whether the reader asked, and may end it.
 */
export function pollOf(poll, messageId, isMine) {
  const { answer_counts: counts, is_finalized: isOver } = poll.results;
  const isAsking = !hasResults(poll);
  if (!isAsking) CHOSEN.delete(messageId);
  const total = counts.reduce((sum, one) => sum + one.count, 0);
  const rows = poll.answers.map((one) =>
    isAsking ? choice(one, messageId, poll.allow_multiselect) : result(one, poll, total),
  );
  const list = isAsking ? h("div", { class: "poll-answers" }, ...rows) : h("ul", { class: "poll-answers" }, ...rows);
  const until = isOver ? t("poll.over") : t("poll.until", { when: dayAndClock(Date.parse(poll.expiry)) });
  const acts = [
    ...(isAsking ? [act("vote", t("poll.vote"), messageId, "button primary")] : []),
    ...(!isOver && !isAsking ? [act("unvote", t("poll.take_back"), messageId, "button")] : []),
    ...(isAsking ? [] : [act("voters", t("poll.voters"), messageId, "button")]),
    ...(isMine && !isOver ? [act("end-poll", t("poll.end"), messageId, "button")] : []),
  ];
  const meta = isAsking ? until : `${t("poll.votes", { n: total })} · ${until}`;
  const question = plainName(poll.question.text);
  return h(
    "div",
    { class: "poll", role: "group", "aria-label": question },
    h("p", { class: "poll-question" }, h("bdi", {}, question)),
    h("p", { class: "meta" }, poll.allow_multiselect && isAsking ? `${t("poll.several")} · ${meta}` : meta),
    list,
    h("div", { class: "component-row" }, ...acts),
  );
}

/**
 * @param {string} name
 * @param {string} words
 * @param {string} messageId
 * @param {string} style
 */
function act(name, words, messageId, style) {
  return h(
    "button",
    { type: "button", class: style, "data-act": name, "data-key": `poll:${messageId}:${name}` },
    words,
  );
}

/** @param {Answer} answer */
function shown({ poll_media: media }) {
  return [...sign(media.emoji), ...(media.text ? [h("bdi", {}, plainName(media.text))] : [])];
}

/** @param {Answer} answer @param {string} messageId @param {boolean} isMany */
function choice(answer, messageId, isMany) {
  const id = answer.answer_id;
  const box = h("input", {
    type: isMany ? "checkbox" : "radio",
    name: `poll-${messageId}`,
    value: String(id),
    change: () => {
      const others = isMany ? [...(CHOSEN.get(messageId) ?? [])].filter((other) => other !== id) : [];
      CHOSEN.set(messageId, new Set(box.checked ? [...others, id] : others));
    },
  });
  box.checked = CHOSEN.get(messageId)?.has(id) ?? false;
  return h("label", { class: "poll-answer check" }, box, h("span", { class: "poll-words" }, ...shown(answer)));
}

/** @param {Answer} answer @param {Poll} poll @param {number} total */
function result(answer, poll, total) {
  const found = poll.results.answer_counts.find(({ id }) => id === answer.answer_id);
  const count = found?.count ?? 0;
  const bar = h("span", { class: "poll-bar", "aria-hidden": "true" });
  bar.style.setProperty("--share", String(total === 0 ? 0 : count / total));
  const named = { class: "poll-mine", role: "img", "aria-label": t("poll.mine") };
  const mine = found?.me_voted ? [h("span", named, icon("check"))] : [];
  return h(
    "li",
    { class: found?.me_voted ? "poll-answer mine" : "poll-answer" },
    bar,
    h("span", { class: "poll-words" }, ...shown(answer)),
    ...mine,
    h("span", { class: "meta" }, t("poll.votes", { n: count })),
  );
}
