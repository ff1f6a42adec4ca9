// Whether all may find a guild: what it says of itself there, and how its application stands.

import { fill, h } from "../../base/dom.js";
import { load } from "../../views/settings/loading.js";
import { t } from "../../words/catalogue.js";
import { categoryWords } from "../../views/names/categories.js";
import { field, select } from "./fields.js";

/** @typedef {import("../../views/shell/app.js").App} App */

/** @type {Readonly<Record<string, () => string>>} */
const STANDING = {
  pending: () => t("discovery_settings.pending"),
  approved: () => t("discovery_settings.approved"),
  rejected: () => t("discovery_settings.rejected"),
  removed: () => t("discovery_settings.removed"),
};
const HELD = new Set(["pending", "approved"]);

/** @param {App} app @param {string} guildId */
export function discoveryPage(app, guildId) {
  const { guildSettings, guilds } = app.acts;
  const said = h("p", { class: "note", role: "status" }, t("results.loading"));
  const category = select([], "");
  const description = h("textarea", { class: "input", rows: "4", minlength: "10", maxlength: "300", required: "" });
  const send = h("button", { type: "submit", class: "button primary" });
  const withdraw = h("button", { type: "button", class: "button danger" }, t("discovery_settings.withdraw"));
  const fields = h(
    "div",
    { hidden: "" },
    field("discovery-about", t("discovery.category"), category),
    field("discovery-words", t("discovery_settings.description"), description, t("discovery_settings.hint")),
    h("p", { class: "button-row" }, send, " ", withdraw),
  );
  const form = h(
    "form",
    { class: "guild-set-card" },
    h("p", { class: "muted" }, t("discovery_settings.words")),
    said,
    fields,
  );
  let isHeld = false;

  async function draw() {
    const [standing, all] = await Promise.all([guildSettings.discovery(guildId), guilds.categories()]);
    const { application, eligible, min_member_count: least } = standing;
    const value = `${application?.category_id ?? all[0]?.id ?? ""}`;
    fill(category, ...all.map(({ id }) => h("option", { value: `${id}` }, categoryWords(id))));
    category.value = value;
    if (description.value === "") description.value = application?.description ?? "";
    isHeld = HELD.has(application?.status ?? "");
    const why = application?.review_reason ? ` ${application.review_reason}` : "";
    if (application) fill(said, `${STANDING[application.status]?.() ?? ""}${why}`);
    else fill(said, eligible ? t("discovery_settings.not_yet") : t("discovery_settings.too_few", { n: least }));
    send.textContent = isHeld ? t("panel.save") : t("discovery_settings.apply");
    fields.hidden = !isHeld && !eligible;
    withdraw.hidden = !isHeld;
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!form.reportValidity()) return;
    const kind = /** @type {import("wire").GuildDiscoveryApplyBody["category_id"]} */ (Number(category.value));
    const wish = { category_id: kind, description: description.value.trim() };
    const done = isHeld ? guildSettings.changeDiscovery(guildId, wish) : guildSettings.applyToDiscovery(guildId, wish);
    done.then(draw).catch(app.report);
  });
  withdraw.addEventListener("click", () => {
    guildSettings.withdrawFromDiscovery(guildId).then(draw).catch(app.report);
  });
  load(app, draw);
  return { element: form, stop: () => {} };
}
