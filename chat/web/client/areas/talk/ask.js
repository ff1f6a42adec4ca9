// Asking by a poll: the question, its answers, how long it is open.

import { h } from "../../base/dom.js";
import { iconButton } from "../../base/icon.js";
import { t } from "../../words/catalogue.js";
import { duration } from "../../words/dates.js";

/** @typedef {import("../../views/shell/app.js").App} App */

const QUESTION_MAXIMUM = 300;
const ANSWER_MAXIMUM = 55;
const ANSWERS_MAXIMUM = 10;
const ANSWERS_LEAST = 2;
const DAY = 24;
/** Hours that a poll may be open. */
const HOURS = [1, 4, 8, DAY, 3 * DAY, 7 * DAY, 14 * DAY, 32 * DAY];

/** @param {{app: App, channelId: string}} parts */
export function open({ app, channelId }) {
  const question = h("textarea", {
    class: "input",
    id: "poll-question",
    required: true,
    rows: "2",
    maxlength: String(QUESTION_MAXIMUM),
  });
  const answers = h("ul", { class: "poll-fields" });
  const more = h("button", { type: "button", class: "button", click: () => add().focus() }, t("poll.add"));
  const options = HOURS.map((hours) => h("option", { value: String(hours), selected: hours === DAY }, lasting(hours)));
  const hours = h("select", { class: "input", id: "poll-hours" }, ...options);
  const several = h("input", { type: "checkbox", id: "poll-several" });

  function add() {
    const field = h("input", { class: "input", maxlength: String(ANSWER_MAXIMUM), autocomplete: "off" });
    const away = iconButton("close", "", () => remove(row));
    const row = h("li", {}, field, away);
    answers.append(row);
    number();
    return field;
  }

  /** @param {Element} row */
  function remove(row) {
    const next = row.nextElementSibling ?? row.previousElementSibling;
    row.remove();
    number();
    next?.querySelector("input")?.focus();
  }

  /** Fields are named by their places. */
  function number() {
    const rows = [...answers.children];
    rows.forEach((row, index) => {
      const [field, away] = [row.querySelector("input"), row.querySelector("button")];
      field?.setAttribute("aria-label", t("poll.answer", { n: index + 1 }));
      field?.setAttribute("placeholder", t("poll.answer", { n: index + 1 }));
      if (field) field.required = index < ANSWERS_LEAST;
      away?.setAttribute("aria-label", t("poll.remove", { n: index + 1 }));
      away?.setAttribute("title", t("poll.remove", { n: index + 1 }));
      if (away) away.hidden = rows.length <= ANSWERS_LEAST;
    });
    more.hidden = rows.length >= ANSWERS_MAXIMUM;
  }

  async function run() {
    const fields = [...answers.querySelectorAll("input")];
    if (![question, ...fields].every((field) => field.reportValidity())) return false;
    const texts = fields.map((field) => field.value.trim()).filter(Boolean);
    await app.acts.polls.ask(channelId, {
      question: { text: question.value.trim() },
      answers: texts.map((text) => ({ poll_media: { text } })),
      duration: Number(hours.value),
      allow_multiselect: several.checked,
    });
    return true;
  }

  for (let index = 0; index < ANSWERS_LEAST; index += 1) add();
  const content = h(
    "div",
    { class: "poll-form" },
    h("div", { class: "field" }, h("label", { for: "poll-question" }, t("poll.question")), question),
    h("div", { class: "field" }, answers, more),
    h("div", { class: "field" }, h("label", { for: "poll-hours" }, t("poll.hours")), hours),
    h("label", { class: "check" }, several, t("poll.several")),
  );
  app.layers.dialog({ title: t("composer.poll"), content, actions: [{ label: t("poll.ask"), run }] });
}

/** @param {number} hours */
function lasting(hours) {
  return hours < DAY ? duration(hours, "hour") : duration(hours / DAY, "day");
}
