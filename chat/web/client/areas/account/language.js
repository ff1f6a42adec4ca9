// The language of the client, in this browser and for the account's mails.

import { h } from "../../base/dom.js";
import { card, choices } from "../../views/settings/fields.js";
import { locale, t } from "../../words/catalogue.js";

const KEY = "language";
/** What the account keeps, by what the browser keeps. */
const LOCALES = /** @type {Readonly<Record<string, string>>} */ ({ en: "en-US", de: "de" });

/** @param {import("../../views/shell/app.js").App} app */
export function makeLanguage(app) {
  const group = choices({
    legend: t("account.language"),
    options: [
      { value: "en", label: "English" },
      { value: "de", label: "Deutsch" },
    ],
    value: locale(),
    async change(value) {
      await app.acts.accountSettings.settings({ locale: LOCALES[value] });
      localStorage.setItem(KEY, value);
      // Everything that is on the page was said in the other one.
      location.reload();
    },
    report: app.report,
  });
  for (const input of group.querySelectorAll("input")) input.closest("label")?.setAttribute("lang", input.value);
  return { element: h("div", { class: "settings-cards" }, card(t("account.language"), t("language.words"), group)) };
}
