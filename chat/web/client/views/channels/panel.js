// The account's own place at the foot of the list: who it is, whether it is there, and the way to its settings.

import { fill, h } from "../../base/dom.js";
import { iconButton } from "../../base/icon.js";
import { t } from "../../words/catalogue.js";
import { avatarAddress, plainName } from "../names/people.js";
import { presenceDot, presenceWords } from "../names/presence.js";

/** @typedef {import("../shell/app.js").App} App */

const STATUSES = /** @type {const} */ (["online", "idle", "dnd", "invisible"]);
const CUSTOM_MAXIMUM = 128;

/** @param {App} app */
export function makePanel(app) {
  const { store, acts } = app;
  const me = h("button", { type: "button", class: "panel-me", "aria-haspopup": "menu", click: choose });
  const settings = iconButton("settings", t("panel.settings"), () => app.go("/channels/@me/settings"));
  const element = h(
    "section",
    { class: "panel", "aria-label": t("panel.name"), tabindex: "-1", "data-region": "" },
    me,
    settings,
  );

  function status() {
    return store.read.settings?.["status"] ?? "online";
  }

  function draw() {
    const user = store.read.users.get(store.read.session.me);
    if (!user) return;
    const name = plainName(user.global_name || user.username);
    const picture = h("img", { class: "avatar small-avatar", alt: "", width: "32", height: "32" });
    picture.src = avatarAddress(user, 80);
    const custom = store.read.settings?.["custom_status"]?.text;
    const words = custom ? plainName(custom) : presenceWords(status());
    fill(
      me,
      h("span", { class: "face-holder" }, picture, presenceDot(status(), !custom)),
      h(
        "span",
        { class: "panel-words" },
        h("bdi", { class: "clip panel-name" }, name),
        h("bdi", { class: "clip meta" }, words),
      ),
    );
  }

  function choose() {
    const entries = STATUSES.map((one) => ({
      label: presenceWords(one),
      checked: status() === one,
      run: () => void acts.account.status(one).catch(app.report),
    }));
    const own = { label: t("panel.custom"), icon: "emoji", run: askForCustom };
    const leave = { label: t("sessions.sign_out"), icon: "leave", run: () => app.open("sign_out") };
    app.layers.menu(me, [...entries, null, own, null, leave], t("panel.status"));
  }

  function askForCustom() {
    const field = /** @type {HTMLInputElement} */ (
      h("input", { class: "input", id: "custom-status", maxlength: String(CUSTOM_MAXIMUM), autocomplete: "off" })
    );
    field.value = store.read.settings?.["custom_status"]?.text ?? "";
    const spans = h(
      "select",
      { class: "input", id: "custom-status-span" },
      ...["", "1800", "3600", "14400", "today"].map((span) => h("option", { value: span }, spanWords(span))),
    );
    const content = h(
      "div",
      {},
      h("div", { class: "field" }, h("label", { for: "custom-status" }, t("panel.custom_words")), field),
      h("div", { class: "field" }, h("label", { for: "custom-status-span" }, t("panel.span")), spans),
    );
    const run = () => acts.account.customStatus(field.value.trim() || null, endOf(spans.value, app.now()));
    app.layers.dialog({ title: t("panel.custom"), content, actions: [{ label: t("panel.save"), run }] });
  }

  const unwatch = store.watch(["me"], draw);
  draw();
  return { element, stop: unwatch };
}

/** @param {string} span Seconds, `today`, or nothing for ever. */
function spanWords(span) {
  if (span === "") return t("panel.for_ever");
  if (span === "today") return t("panel.today");
  const minutes = Number(span) / 60;
  return minutes < 60 ? t("moderation.minutes", { n: minutes }) : t("moderation.hours", { n: minutes / 60 });
}

/** @param {string} span @param {number} now */
function endOf(span, now) {
  if (span === "") return null;
  return span === "today" ? new Date(now).setHours(24, 0, 0, 0) : now + Number(span) * 1000;
}
