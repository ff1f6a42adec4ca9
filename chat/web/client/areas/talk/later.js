// When to send what stands in the field: soon, in the morning, or at a moment of one's own.

import { h } from "../../base/dom.js";
import { t } from "../../words/catalogue.js";
import { dayAndClock } from "../../words/dates.js";

/** @typedef {import("../../views/shell/app.js").App} App */
/** @typedef {(run: (draft: import("../../acts/messages.js").Draft) => Promise<unknown>) => Promise<void>} Hand */

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const AHEAD_MS = 30 * DAY_MS;
const MORNING = 9;

/** @param {{app: App, anchor: Element, channelId: string, hand: Hand}} parts */
export function open({ app, anchor, channelId, hand }) {
  const now = app.now();
  /** @param {number} at */
  const schedule = (at) =>
    hand((draft) => app.acts.scheduled.schedule(channelId, draft, at)).then(() => {
      const action = { label: t("later.show"), run: () => app.open("scheduled") };
      app.layers.toast(t("later.scheduled", { when: dayAndClock(at) }), { action });
    });
  /** @param {number} at @param {(when: {when: string}) => string} words */
  const soon = (at, words) => ({
    label: words({ when: dayAndClock(at) }),
    icon: "clock",
    run: () => void schedule(at).catch(app.report),
  });
  app.layers.menu(
    anchor,
    [
      soon(now + HOUR_MS, (when) => t("later.hour", when)),
      soon(morning(now + DAY_MS), (when) => t("later.tomorrow", when)),
      soon(morning(nextMonday(now)), (when) => t("later.monday", when)),
      { label: t("later.choose"), icon: "calendar", run: () => choose(app, now + HOUR_MS, t("later.title"), schedule) },
      null,
      { label: t("scheduled.title"), icon: "list", run: () => app.open("scheduled") },
    ],
    t("later.title"),
  );
}

/**
 * @param {App} app
 * @param {number} at
 * @param {string} title
 * @param {(at: number) => Promise<unknown>} run
 */
function choose(app, at, title, run) {
  const { element, input } = momentField(at, app.now());
  const act = async () => input.reportValidity() && (await run(Date.parse(input.value)));
  app.layers.dialog({ title, content: element, actions: [{ label: t("later.send"), run: act }] });
}

/**
 * A field for a moment that may be chosen.
 * @param {number} at
 * @param {number} now
 */
export function momentField(at, now) {
  const input = h("input", { class: "input", type: "datetime-local", id: "later-at", required: "" });
  input.value = localOf(at);
  input.min = localOf(now);
  input.max = localOf(now + AHEAD_MS);
  return { input, element: h("div", { class: "field" }, h("label", { for: "later-at" }, t("later.at")), input) };
}

/** @param {number} at */
function localOf(at) {
  const shifted = new Date(at - new Date(at).getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 16);
}

/** @param {number} day */
function morning(day) {
  return new Date(day).setHours(MORNING, 0, 0, 0);
}

/** @param {number} now */
function nextMonday(now) {
  return now + ((8 - new Date(now).getDay()) % 7 || 7) * DAY_MS;
}
