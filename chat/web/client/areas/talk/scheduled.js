// What the account has scheduled, and what could not be sent: changed, sent now, or deleted.

import { fill, h } from "../../base/dom.js";
import { quoted } from "../../views/names/quoted.js";
import { nameOfChannel } from "../../views/names/channels.js";
import { translated } from "../../../static/language.js";
import { t } from "../../words/catalogue.js";
import { dayAndClock } from "../../words/dates.js";
import { momentField } from "./later.js";

/** @typedef {import("../../views/shell/app.js").App} App */
/** @typedef {import("../../acts/scheduled.js").Scheduled} Scheduled */

const HOUR_MS = 3_600_000;
const LENGTH_MAXIMUM = 4000;

/** @param {{app: App}} parts */
export function open({ app }) {
  const list = h("ul", { class: "scheduled", "aria-busy": "true" });
  const none = h("p", { class: "muted" }, t("results.loading"));
  app.layers.dialog({ title: t("scheduled.title"), content: h("div", {}, none, list), wide: true });
  let asked = 0;

  async function draw() {
    const mine = (asked += 1);
    try {
      const all = await app.acts.scheduled.all();
      if (mine !== asked) return;
      none.textContent = t("scheduled.none");
      none.hidden = all.length > 0;
      fill(list, ...all.map((one) => row(app, one, draw)));
    } catch (error) {
      app.report(error);
    }
    list.ariaBusy = "false";
  }

  void draw();
}

/** @param {App} app @param {Scheduled} one @param {() => Promise<void>} again */
function row(app, one, again) {
  const { acts, store, report } = app;
  const channel = store.read.channels.get(one.channel_id);
  const place = { store, guildId: channel?.guild_id ?? null };
  const where = channel ? nameOfChannel(store.read, channel) : t("scheduled.gone");
  const when = dayAndClock(Date.parse(one.scheduled_at));
  const files = one.payload["attachments"].length;
  const words = quoted(one.payload["content"], place) || t("scheduled.files", { n: files });
  const reason = translated(one.status_reason ?? "");
  const button = (/** @type {string} */ label, /** @type {() => void} */ click, kind = "") =>
    h("button", { type: "button", class: `button ${kind}`, "aria-label": `${label}: ${words}`, click }, label);
  const act = (/** @type {Promise<unknown>} */ done) => void done.then(again, report);
  return h(
    "li",
    { class: "scheduled-row" },
    h("p", { class: "meta" }, h("bdi", {}, `${place.guildId ? "#" : ""}${where}`), " \u00b7 ", when),
    h("p", { class: "scheduled-words", dir: "auto" }, words),
    ...(one.status === "invalid" ? [h("p", { class: "field-error" }, t("scheduled.invalid", { reason }))] : []),
    h(
      "div",
      { class: "scheduled-acts" },
      button(t("scheduled.edit"), () => edit(app, one, again)),
      button(t("scheduled.now"), () => act(acts.scheduled.sendNow(one.id))),
      button(t("scheduled.delete"), () => act(acts.scheduled.remove(one.id)), "danger"),
    ),
  );
}

/** @param {App} app @param {Scheduled} one @param {() => Promise<void>} again */
function edit(app, one, again) {
  const area = h("textarea", { class: "input", rows: "5", id: "scheduled-text", dir: "auto" });
  area.maxLength = LENGTH_MAXIMUM;
  area.value = one.payload["content"];
  const known = Date.parse(one.scheduled_at);
  const moment = momentField(known > app.now() ? known : app.now() + HOUR_MS, app.now());
  const text = h("div", { class: "field" }, h("label", { for: "scheduled-text" }, t("scheduled.text")), area);
  const run = async () => {
    if (!moment.input.reportValidity()) return false;
    await app.acts.scheduled.change(one.id, { content: area.value, at: Date.parse(moment.input.value) });
    return again();
  };
  const content = h("div", {}, text, moment.element);
  app.layers.dialog({ title: t("scheduled.edit"), content, actions: [{ label: t("settings.save"), run }] });
}
