// How this browser tells of messages while a tab is open, and the words of which the account wants to hear everywhere.

import { h } from "../../base/dom.js";
import { keepNotices, keptNotices, play, SOUNDS } from "../../base/notices.js";
import { card, toggle } from "../../views/settings/fields.js";
import { load } from "../../views/settings/loading.js";
import { t } from "../../words/catalogue.js";

/** @typedef {import("../../views/shell/app.js").App} App */
/** @typedef {import("../../base/notices.js").Notices} Notices */
/** @typedef {import("../../base/notices.js").Sound} Sound */

/** From when until when it is quiet, where nothing else was chosen. */
const NIGHT = Object.freeze({ start: "22:00", end: "07:00" });

/** @param {App} app */
export function makeNoticesCard(app) {
  /** @param {Partial<Notices>} change */
  const set = (change) => keepNotices({ ...keptNotices(), ...change });
  const shows = toggle({
    label: t("notices.show"),
    checked: keptNotices().shows && isPermitted(),
    async change(wanted) {
      if (wanted && !(await isGranted())) throw new Error(t("push.denied"));
      set({ shows: wanted });
    },
    report: app.report,
  });
  const [start, end] = [timeOfDay(changed), timeOfDay(changed)];
  const hours = h("div", { class: "settings-row" }, hour(t("notices.from"), start), hour(t("notices.to"), end));
  const kept = () => app.store.read.settings?.["quiet_hours"] ?? null;
  /** @param {{start: string, end: string} | null} next */
  function keep(next) {
    const timezone = Intl.DateTimeFormat().resolvedOptions().timeZone;
    return app.acts.accountSettings.settings({ quiet_hours: next && { ...next, timezone } });
  }
  const quiet = toggle({
    label: t("notices.quiet"),
    hint: t("notices.quiet_hint"),
    checked: kept() !== null,
    async change(wanted) {
      await keep(wanted ? NIGHT : null);
      drawHours();
    },
    report: app.report,
  });

  function drawHours() {
    const chosen = kept();
    hours.hidden = chosen === null;
    if (chosen) [start.value, end.value] = [chosen.start, chosen.end];
  }

  /** Both go together: one may change while the other's change is still on its way. */
  function changed() {
    if (start.value !== "" && end.value !== "") keep({ start: start.value, end: end.value }).catch(app.report);
  }

  drawHours();
  return card(t("notices.title"), t("notices.words"), shows, soundRow(set), quiet, hours);
}

/** @param {() => void} changed */
function timeOfDay(changed) {
  return h("input", { class: "input", type: "time", required: "", change: changed });
}

/** @param {string} label @param {HTMLElement} input */
function hour(label, input) {
  return h("label", { class: "notices-hour" }, h("span", {}, label), input);
}

/** @param {(change: Partial<Notices>) => void} set */
function soundRow(set) {
  const select = h("select", { class: "select", "aria-label": t("notices.sound") });
  const names = {
    chime: t("notices.chime"),
    drop: t("notices.drop"),
    knock: t("notices.knock"),
    none: t("notices.silent"),
  };
  select.append(...SOUNDS.map((sound) => h("option", { value: sound }, names[sound])));
  select.value = keptNotices().sound;
  select.addEventListener("change", () => {
    const sound = /** @type {Sound} */ (select.value);
    set({ sound });
    void play(sound).catch(() => {}); // a browser without sound
  });
  return h("div", { class: "settings-row" }, h("span", {}, t("notices.sound")), select);
}

function isPermitted() {
  return "Notification" in globalThis && Notification.permission === "granted";
}

async function isGranted() {
  return "Notification" in globalThis && (await Notification.requestPermission()) === "granted";
}

/** @param {App} app */
export function makeWordsCard(app) {
  const acts = app.acts.accountSettings;
  const label = t("notices.own_words");
  const area = h("textarea", { class: "input", rows: "4", "aria-label": label, spellcheck: "false", dir: "auto" });
  const save = h("button", { type: "submit", class: "button" }, t("settings.save"));
  const form = h("form", { class: "settings-form" }, area, h("div", {}, save));
  area.disabled = save.disabled = true;
  const show = (/** @type {string[]} */ words) => {
    area.value = words.join("\n");
    area.disabled = save.disabled = false;
  };
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      const words = area.value.split("\n").map((word) => word.trim());
      show(await acts.putWords(words.filter((word) => word !== "")));
      app.announce(t("settings.saved"));
    } catch (error) {
      app.report(error);
    }
  });
  load(app, async () => show(await acts.words()));
  return card(label, t("notices.own_words_hint"), form);
}
