// An invite that somebody follows within the client.

import { h } from "../../base/dom.js";
import { t } from "../../words/catalogue.js";
import { plainName } from "../names/people.js";
import { visit } from "./new_guild.js";

/** @typedef {import("../shell/app.js").App} App */

/**
 * Goes to what it leads to, where the person is there already; else joins, or asks before.
 * @param {App} app
 * @param {string} code
 * @param {boolean} [isSure] What was pressed said so.
 */
export async function followInvite(app, code, isSure = false) {
  const invite = await app.acts.guilds.knownInvite(code);
  if (invite === null) return app.layers.toast(t("invited.gone"));
  const { guild, channel, placeholder } = invite;
  const isMember = app.store.read.guilds.has(guild?.id ?? "");
  if (guild && isMember && !placeholder) return app.go(`/channels/${guild.id}`);
  if (!guild && channel && app.store.read.channels.has(channel.id)) return app.go(`/channels/@me/${channel.id}`);
  if (isSure) return accept(app, code);
  const name = plainName(guild?.name ?? channel?.name ?? "");
  const whose = placeholder ? plainName(placeholder.global_name || placeholder.username) : "";
  app.layers.dialog({
    title: isMember ? t("old_names.mine_title", { name: whose }) : t("invited.title", { name }),
    content: h(
      "div",
      {},
      ...(placeholder ? [h("p", {}, t("invited.takes_over", { name: whose }))] : []),
      ...(isMember ? [] : [h("p", { class: "muted" }, t("invited.words"))]),
    ),
    actions: [{ label: isMember ? t("invited.take_over") : t("new_guild.join_it"), run: () => accept(app, code) }],
  });
  return undefined;
}

/**
 * @param {App} app
 * @param {string} code
 */
async function accept(app, code) {
  const { guild, channel } = await app.acts.guilds.join(code);
  if (guild) visit(app, guild.id);
  else if (channel) app.go(`/channels/@me/${channel.id}`);
}
