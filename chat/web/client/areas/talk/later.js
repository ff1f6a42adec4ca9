// When to send what stands in the field: soon, in the morning, or at a moment of one's own.

import { h } from "../../base/dom.js";
import { t } from "../../words/catalogue.js";
import { dayAndClock } from "../../words/dates.js";

/** @typedef {import("../../views/shell/app.js").App} App */
/** @typedef {(run: (draft: import("../../acts/messages.js").Draft) => Promise<unknown>) => Promise<void>} Hand */

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
const AHEAD_MS = 30 * DAY_MS;
const MORNING = 9;

/** @param {{app: App, anchor: Element, channelId: string, hand: Hand}} parts */
export function open({ app, anchor, channelId, hand }) {
  const now = app.now();
  const [tomorrow, monday] = [morning(now + DAY_MS), morning(nextMonday(now))];
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
  const own = { title: t("later.title"), label: t("later.send"), ahead: AHEAD_MS };
  app.layers.menu(
    anchor,
    [
      soon(now + HOUR_MS, (when) => t("later.hour", when)),
      soon(tomorrow, (when) => t("later.tomorrow", when)),
      // On a Sunday they are one moment.
      ...(monday === tomorrow ? [] : [soon(monday, (when) => t("later.monday", when))]),
      { label: t("later.choose"), icon: "calendar", run: () => choose(app, now + HOUR_MS, own, schedule) },
      null,
      { label: t("scheduled.title"), icon: "list", run: () => app.open("scheduled") },
    ],
    t("later.title"),
  );
}

/**
 * @param {App} app
 * @param {number} at
 * @param {{title: string, label: string, ahead: number}} about `ahead`: how far off it may be, in milliseconds.
 * @param {(at: number) => Promise<unknown>} run
 */
export function choose(app, at, { title, label, ahead }, run) {
  const { element, input } = momentField(at, app.now(), ahead);
  const act = async () => input.reportValidity() && (await run(Date.parse(input.value)));
  app.layers.dialog({ title, content: element, actions: [{ label, run: act }] });
}

/**
 * A field for a moment that may be chosen.
 * @param {number} at
 * @param {number} now
 * @param {number} [ahead]
 */
export function momentField(at, now, ahead = AHEAD_MS) {
  const input = h("input", { class: "input", type: "datetime-local", id: "later-at", required: "" });
  input.value = localOf(at);
  input.min = localOf(now);
  input.max = localOf(now + ahead);
  return { input, element: h("div", { class: "field" }, h("label", { for: "later-at" }, t("later.at")), input) };
}

/** @param {number} at */
function localOf(at) {
  const shifted = new Date(at - new Date(at).getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 16);
}

/** @param {number} day */
export function morning(day) {
  return new Date(day).setHours(MORNING, 0, 0, 0);
}

/** @param {number} now */
export function nextMonday(now) {
  return now + ((8 - new Date(now).getDay()) % 7 || 7) * DAY_MS;
}
