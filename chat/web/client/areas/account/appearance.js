// How the client looks: seen at once, kept in this browser; light or dark in the account as well.

import { h } from "../../base/dom.js";
import { keepAppearance, keptAppearance, PLAIN, SCALES } from "../../base/appearance.js";
import { card, choices, toggle } from "../../views/settings/fields.js";
import { avatarAddress, plainName } from "../../views/names/people.js";
import { t } from "../../words/catalogue.js";
import { clock } from "../../words/dates.js";

/** @typedef {import("../../views/shell/app.js").App} App */
/** @typedef {import("../../base/appearance.js").Appearance} Appearance */

/** @param {App} app */
export function makeAppearance(app) {
  const { report } = app;
  /** @type {Appearance} */
  let now = keptAppearance() ?? { ...PLAIN, theme: app.store.read.settings?.["theme"] ?? "system" };

  /** @param {Partial<Appearance>} change */
  function change(change) {
    now = { ...now, ...change };
    keepAppearance(now);
  }

  const theme = choices({
    legend: t("appearance.theme"),
    options: [
      { value: "system", label: t("appearance.system") },
      { value: "light", label: t("appearance.light") },
      { value: "dark", label: t("appearance.dark") },
    ],
    value: now.theme,
    async change(value) {
      change({ theme: value });
      await app.acts.accountSettings.settings({ theme: value });
    },
    report,
  });
  const density = choices({
    legend: t("appearance.density"),
    options: [
      { value: "airy", label: t("appearance.airy") },
      { value: "cosy", label: t("appearance.cosy") },
      { value: "tight", label: t("appearance.tight") },
    ],
    value: now.density,
    change: (value) => change({ density: value }),
    report,
  });
  theme.classList.add("in-line");
  density.classList.add("in-line");
  const element = h(
    "div",
    { class: "settings-cards" },
    card(t("appearance.theme"), t("appearance.theme_words"), theme),
    card(t("appearance.density"), null, density, sample(app)),
    card(t("appearance.scale"), null, scale(now.scale, (value) => change({ scale: value }))),
    card(
      t("appearance.motion"),
      null,
      toggle({
        label: t("appearance.still"),
        hint: t("appearance.still_hint"),
        checked: now.isStill,
        change: (checked) => change({ isStill: checked }),
        report,
      }),
    ),
  );
  return { element };
}

/**
 * @param {number} value
 * @param {(value: number) => void} change
 */
function scale(value, change) {
  const input = h("input", { type: "range", class: "range", "aria-label": t("appearance.scale") });
  input.min = String(SCALES.least);
  input.max = String(SCALES.most);
  input.step = String(SCALES.step);
  input.value = String(value);
  const words = h("output", { class: "small muted" });
  const say = () => {
    words.textContent = t("appearance.percent", { n: Number(input.value) });
    input.setAttribute("aria-valuetext", words.textContent);
  };
  input.addEventListener("input", say);
  input.addEventListener("change", () => change(Number(input.value)));
  say();
  return h("div", { class: "range-row" }, input, words);
}

/** Two messages, as they would stand. @param {App} app */
function sample(app) {
  const me = app.store.read.users.get(app.store.read.session.me);
  const name = plainName(me?.global_name || me?.username || "");
  const face = h("img", { class: "sample-face", alt: "", width: "40", height: "40" });
  if (me) face.src = avatarAddress(me, 80);
  const row = (/** @type {string} */ words) =>
    h(
      "div",
      { class: "sample-row" },
      face.cloneNode(),
      h(
        "div",
        {},
        h("p", {}, h("strong", {}, h("bdi", {}, name)), " ", h("span", { class: "meta" }, clock(app.now()))),
        h("p", {}, words),
      ),
    );
  const rows = [row(t("appearance.sample_one")), row(t("appearance.sample_two"))];
  return h("div", { class: "sample", "aria-hidden": "true" }, ...rows);
}
