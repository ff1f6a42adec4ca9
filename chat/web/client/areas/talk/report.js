// A message is reported to those who run the instance.

import { h } from "../../base/dom.js";
import { t } from "../../words/catalogue.js";

/** @typedef {import("../../views/shell/app.js").App} App */

const WORDS_MAXIMUM = 1000;

/** What people choose from, in the words of `registries/reports.py`. */
const CATEGORIES = /** @type {const} */ ([
  ["spam", () => t("report.spam")],
  ["harassment", () => t("report.harassment")],
  ["hate_speech", () => t("report.hate")],
  ["violence", () => t("report.violence")],
  ["sexual_content", () => t("report.sexual")],
  ["child_safety", () => t("report.children")],
  ["self_harm", () => t("report.self_harm")],
  ["scam", () => t("report.scam")],
  ["malware", () => t("report.malware")],
  ["impersonation", () => t("report.impersonation")],
  ["privacy_violation", () => t("report.privacy")],
  ["illegal_activity", () => t("report.illegal")],
  ["other", () => t("report.other")],
]);

/** @typedef {import("wire").ReportMessageBody["category"]} Category */

/** @param {{app: App, channelId: string, message: import("wire").Message}} parts */
export function open({ app, channelId, message }) {
  const choice = h("select", { class: "select", id: "report-category" });
  for (const [value, words] of CATEGORIES) choice.append(h("option", { value }, words()));
  const words = /** @type {HTMLTextAreaElement} */ (
    h("textarea", { class: "input", id: "report-words", rows: "4", maxlength: String(WORDS_MAXIMUM), dir: "auto" })
  );
  const content = h(
    "div",
    {},
    h("p", { class: "muted" }, t("report.words")),
    h("div", { class: "field" }, h("label", { for: "report-category" }, t("report.category")), choice),
    h("div", { class: "field" }, h("label", { for: "report-words" }, t("report.more")), words),
  );
  const run = async () => {
    const category = /** @type {Category} */ (choice.value);
    await app.acts.messages.report(channelId, message.id, category, words.value.trim() || null);
    app.layers.toast(t("report.done"));
  };
  app.layers.dialog({ title: t("report.title"), content, actions: [{ label: t("report.send"), kind: "danger", run }] });
}
