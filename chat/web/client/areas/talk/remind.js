// When to be reminded of a message: soon, in the morning, next week, or at a moment of one's own.

import { t } from "../../words/catalogue.js";
import { dayAndClock } from "../../words/dates.js";
import { choose, DAY_MS, HOUR_MS, morning, nextMonday } from "./later.js";

/** @typedef {import("../../views/shell/app.js").App} App */

const MINUTES_MS = 20 * 60_000;
const AHEAD_MS = 365 * DAY_MS;

/** @param {{app: App, anchor: Element, channelId: string, messageId: string}} parts */
export function open({ app, anchor, channelId, messageId }) {
  const now = app.now();
  const [tomorrow, monday] = [morning(now + DAY_MS), morning(nextMonday(now))];
  const list = () => app.open("reminders");
  /** @param {number} at */
  async function remind(at) {
    await app.acts.reminders.put(channelId, messageId, at);
    app.layers.toast(t("remind.set", { when: dayAndClock(at) }), { action: { label: t("later.show"), run: list } });
  }
  /** @param {number} at @param {(when: {when: string}) => string} words */
  const soon = (at, words) => ({
    label: words({ when: dayAndClock(at) }),
    icon: "clock",
    run: () => void remind(at).catch(app.report),
  });
  const own = { title: t("remind.title"), label: t("remind.run"), ahead: AHEAD_MS };
  app.layers.menu(
    anchor,
    [
      soon(now + MINUTES_MS, (when) => t("remind.minutes", when)),
      soon(now + HOUR_MS, (when) => t("later.hour", when)),
      soon(now + 3 * HOUR_MS, (when) => t("remind.hours", when)),
      soon(tomorrow, (when) => t("later.tomorrow", when)),
      // On a Sunday they are one moment.
      ...(monday === tomorrow ? [] : [soon(monday, (when) => t("remind.week", when))]),
      { label: t("later.choose"), icon: "calendar", run: () => choose(app, now + HOUR_MS, own, remind) },
      null,
      { label: t("reminders.title"), icon: "list", run: list },
    ],
    t("remind.title"),
  );
}
