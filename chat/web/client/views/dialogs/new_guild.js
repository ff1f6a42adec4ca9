// One more guild: made by oneself, or joined by an invite.

import { ApiError } from "../../../static/api.js";
import { dataAddress } from "../../base/data_address.js";
import { fill, h } from "../../base/dom.js";
import { t } from "../../words/catalogue.js";
import { plainName } from "../names/people.js";
import { fileField } from "./file_field.js";
import { TEMPLATES, templateOf } from "./templates.js";

/** @typedef {import("../shell/app.js").App} App */

const NAME_MAXIMUM = 100;
/** After the last letter of an invite it is looked up. */
const LOOK_MS = 300;
const PICTURES = "image/png,image/jpeg,image/gif,image/webp";

/**
 * @param {App} app
 * @param {Element} anchor
 */
export function askForGuild(app, anchor) {
  app.layers.menu(
    anchor,
    [
      { label: t("new_guild.make"), icon: "add", run: () => make(app) },
      { label: t("new_guild.join"), icon: "invite", run: () => join(app) },
      { label: t("new_guild.bring"), icon: "add", run: () => app.open("bring") },
      { label: t("discovery.title"), icon: "compass", run: () => app.open("discovery") },
    ],
    t("rail.add"),
  );
}

/** @param {App} app */
export function make(app) {
  const name = /** @type {HTMLInputElement} */ (
    h("input", { class: "input", id: "guild-name", required: "", maxlength: String(NAME_MAXIMUM), autocomplete: "off" })
  );
  const { element, input: picture } = fileField("guild-picture", t("new_guild.picture"), PICTURES);
  const template = h("select", { class: "select", id: "guild-template" });
  template.append(h("option", { value: "" }, t("template.none")));
  for (const [value, { label }] of Object.entries(TEMPLATES)) template.append(h("option", { value }, label()));
  const content = h(
    "div",
    {},
    h("p", { class: "muted" }, t("new_guild.make_words")),
    h("div", { class: "field" }, h("label", { for: "guild-name" }, t("new_guild.name")), name),
    element,
    h("div", { class: "field" }, h("label", { for: "guild-template" }, t("template.begin")), template),
  );
  const run = async () => {
    if (!name.reportValidity()) return false;
    const file = picture.files?.[0];
    const guild = await app.acts.guilds.create({
      name: name.value.trim(),
      icon: file ? await dataAddress(file) : null,
      template: template.value ? templateOf(/** @type {keyof typeof TEMPLATES} */ (template.value)) : null,
    });
    visit(app, guild.id);
    return true;
  };
  app.layers.dialog({ title: t("new_guild.make"), content, actions: [{ label: t("new_guild.make_it"), run }] });
}

/** @param {App} app */
export function join(app) {
  const code = /** @type {HTMLInputElement} */ (
    h("input", { class: "input", id: "invite-code", required: "", autocomplete: "off", spellcheck: "false" })
  );
  const found = h("p", { class: "invite-found small", role: "status" });
  const content = h(
    "div",
    {},
    h(
      "div",
      { class: "field" },
      h("label", { for: "invite-code" }, t("new_guild.code")),
      code,
      h("p", { class: "hint" }, t("new_guild.code_hint", { address: `${location.origin}/invite/\u2026` })),
    ),
    found,
  );
  let timer = 0;
  const look = async () => {
    const wanted = code.value.trim();
    const words = wanted === "" ? "" : await app.acts.guilds.invite(wanted).then(leadsTo, unknown);
    // What was typed meanwhile is looked up by itself.
    if (code.value.trim() === wanted) fill(found, words);
  };
  code.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => void look(), LOOK_MS);
  });
  const run = async () => {
    if (!code.reportValidity()) return false;
    const invite = await app.acts.guilds.join(code.value);
    if (invite?.guild) visit(app, invite.guild.id);
    return true;
  };
  app.layers.dialog({
    title: t("new_guild.join"),
    content,
    actions: [{ label: t("new_guild.join_it"), run }],
    onClose: () => clearTimeout(timer),
  });
}

/** @param {import("../../acts/guilds.js").Invite} invite */
function leadsTo({ guild, channel, placeholder }) {
  const where = t("new_guild.leads_to", { name: plainName(guild?.name ?? channel?.name ?? "") });
  if (!placeholder) return where;
  return `${where} ${t("invited.takes_over", { name: plainName(placeholder.global_name || placeholder.username) })}`;
}

/** @param {unknown} error */
function unknown(error) {
  const isGone = error instanceof ApiError && error.status === 404;
  return isGone ? t("invited.gone") : t("invited.unknown");
}

/**
 * The guild is shown as soon as the gateway tells of it.
 * @param {App} app
 * @param {string} guildId
 */
export function visit(app, guildId) {
  const { store } = app;
  if (store.read.guilds.has(guildId)) return app.go(`/channels/${guildId}`);
  const unwatch = store.watch(["guilds", `guild:${guildId}`], () => {
    if (!store.read.guilds.has(guildId)) return;
    unwatch();
    app.go(`/channels/${guildId}`);
  });
  return undefined;
}
