// How the client looks: seen at once, kept in this browser; light or dark in the account as well.

import { h } from "../../base/dom.js";
import { ACCOUNT_THEMES, keepAppearance, keptAppearance, PLAIN, SCALES, themeOf } from "../../base/appearance.js";
import { card, choices, toggle } from "../../views/settings/fields.js";
import { avatarAddress, plainName } from "../../views/names/people.js";
import { t } from "../../words/catalogue.js";
import { clock } from "../../words/dates.js";

/** @typedef {import("../../views/shell/app.js").App} App */
/** @typedef {import("../../base/appearance.js").Appearance} Appearance */
/** @typedef {import("../../base/appearance.js").Theme} Theme */
/** @typedef {import("../../base/appearance.js").Accent} Accent */

/** @type {readonly {value: Theme, label: () => string}[]} */
const THEMES = [
  { value: "system", label: () => t("appearance.system") },
  { value: "light", label: () => t("appearance.light") },
  { value: "sand", label: () => t("appearance.sand") },
  { value: "dark", label: () => t("appearance.dark") },
  { value: "dusk", label: () => t("appearance.dusk") },
  { value: "coal", label: () => t("appearance.coal") },
  { value: "contrast", label: () => t("appearance.contrast") },
];

/** @type {readonly {value: Accent, label: () => string}[]} */
const ACCENTS = [
  { value: "instance", label: () => t("appearance.accent_instance") },
  { value: "teal", label: () => t("appearance.teal") },
  { value: "green", label: () => t("appearance.green") },
  { value: "blue", label: () => t("appearance.blue") },
  { value: "violet", label: () => t("appearance.violet") },
  { value: "pink", label: () => t("appearance.pink") },
  { value: "red", label: () => t("appearance.red") },
  { value: "amber", label: () => t("appearance.amber") },
];

/** @param {App} app */
export function makeAppearance(app) {
  const { report } = app;
  /** @type {Appearance} */
  let now = keptAppearance() ?? { ...PLAIN, theme: themeOf(app.store.read.settings?.["theme"] ?? "") };

  /** @param {Partial<Appearance>} change */
  function change(change) {
    now = { ...now, ...change };
    keepAppearance(now);
  }

  const theme = choices({
    legend: t("appearance.theme"),
    options: THEMES.map(({ value, label }) => ({ value, label: label() })),
    value: now.theme,
    async change(value) {
      const chosen = /** @type {Theme} */ (value);
      change({ theme: chosen });
      await app.acts.accountSettings.settings({ theme: ACCOUNT_THEMES[chosen] });
    },
    report,
  });
  const accent = choices({
    legend: t("appearance.accent"),
    options: ACCENTS.map(({ value, label }) => ({ value, label: label() })),
    value: now.accent,
    change: (value) => change({ accent: /** @type {Accent} */ (value) }),
    report,
  });
  for (const input of accent.querySelectorAll("input")) {
    const swatch = h("span", { class: "swatch", "data-swatch": input.value, "aria-hidden": "true" });
    input.after(swatch);
  }
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
  accent.classList.add("in-line");
  density.classList.add("in-line");
  const element = h(
    "div",
    { class: "settings-cards" },
    card(t("appearance.theme"), t("appearance.theme_words"), theme),
    card(t("appearance.accent"), null, accent),
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
