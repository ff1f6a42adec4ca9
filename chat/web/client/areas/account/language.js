// The language of the client, in this browser and for the account's mails.

import { h } from "../../base/dom.js";
import { card, choices } from "../../views/settings/fields.js";
import { locale, t } from "../../words/catalogue.js";
import { languageFor, LANGUAGES } from "../../words/languages.js";

const KEY = "language";

/**
 * The choice is kept in this browser before the account has it: what the gateway tells of the account is news to other
 * browsers alone, which load the page anew for it.
 * @param {string} value
 * @param {() => Promise<unknown>} send
 */
async function keeping(value, send) {
  const before = localStorage.getItem(KEY);
  localStorage.setItem(KEY, value);
  try {
    await send();
  } catch (error) {
    if (before === null) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, before);
    throw error;
  }
}

/** @param {import("../../views/shell/app.js").App} app */
export function makeLanguage(app) {
  const group = choices({
    legend: t("account.language"),
    options: LANGUAGES.map(({ tag, name }) => ({ value: tag, label: name })),
    value: languageFor([locale()]).language.tag,
    async change(value) {
      // Mails have the region of this browser too, where it names one.
      const spoken = navigator.languages.find((wish) => languageFor([wish]).language.tag === value) ?? value;
      await keeping(value, () => app.acts.accountSettings.settings({ locale: spoken }));
      // Everything that is on the page was said in the other one.
      location.reload();
    },
    report: app.report,
  });
  for (const input of group.querySelectorAll("input")) {
    const label = input.closest("label");
    label?.setAttribute("lang", input.value);
    if (LANGUAGES.some((one) => one.tag === input.value && !one.isReviewed)) {
      label?.append(h("small", { class: "language-unread", lang: locale() }, t("language.unread")));
    }
  }
  const clocks = choices({
    legend: t("clock.title"),
    options: [
      { value: "0", label: t("clock.auto") },
      { value: "1", label: t("clock.twelve") },
      { value: "2", label: t("clock.twenty_four") },
    ],
    value: String(app.store.read.settings?.["time_format"] ?? 0),
    async change(value) {
      await app.acts.accountSettings.settings({ time_format: Number(value) });
      // Every moment that is on the page was said by the other one.
      location.reload();
    },
    report: app.report,
  });
  return {
    element: h(
      "div",
      { class: "settings-cards" },
      card(t("account.language"), t("language.words"), group),
      card(t("clock.title"), null, clocks),
    ),
  };
}
