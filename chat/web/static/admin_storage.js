// What takes the room on the disk, how backups are, and cleaning up.

import { fill, h } from "../client/base/dom.js";
import { size } from "./admin_archives.js";
import { actionButton } from "./admin_dialog.js";
import { orderedJob } from "./admin_jobs.js";
import { READS } from "./admin_operations.js";
import { OTHER_ACTIONS } from "./admin_other_actions.js";
import { accountLink, accountPlace, card, code, facts, fromOutside, guildPlace, link, muted, paragraph, progress, table, tag, withDistance } from "./admin_parts.js";
import { ask } from "./admin_session.js";
import { locale, t, tn } from "./spoken.js";

/** @typedef {import("wire").Answer<"GET", "/v1/admin/storage">} Found */
/** @typedef {{bytes: number, files: number}} Room */

/** @type {Record<string, string>} */
const PARTS = {
  database: t("Database"),
  message_files: t("Files of messages"),
  waiting_files: t("Files that are not sent yet"),
  kept_files: t("Saved media"),
  archives: t("Archives"),
  renditions: t("Resized pictures, which can be made again"),
  avatars: t("Avatars"),
  banners: t("Banners"),
  icons: t("Icons"),
  splashes: t("Splash pictures"),
  emojis: t("Emojis"),
  stickers: t("Stickers"),
  member_images: t("Pictures of members of one community"),
};

/**
 * @param {import("./admin_places.js").Visit} visit
 * @returns {Promise<import("./admin_places.js").Shown>}
 */
export async function showStorage({ signal }) {
  const found = await ask(READS.storage, { signal });
  const ordered = h("div", {});
  const clean = actionButton("cleanStorage", OTHER_ACTIONS.cleanStorage, {}, async ({ job_id: id }) => fill(ordered, await orderedJob(id, signal)));
  return {
    title: t("Storage"),
    content: [diskCard(found.disk), backupCard(found.backup), partsCard(found.parts, clean, ordered), guildsCard(found.guilds), accountsCard(found.accounts)],
  };
}

/** @param {Found["disk"]} disk */
function diskCard({ total_bytes: total, free_bytes: free, warn_bytes: warn, is_low: isLow }) {
  return card(
    t("Disk"),
    isLow ? h("p", { class: "note", role: "alert" }, t("The disk is nearly full: when nothing is left, no message can be written any more.")) : null,
    h("p", {}, progress(total - free, total, t("Used"))),
    facts(
      [t("Free"), [size(free), isLow ? [" ", tag(t("little"), "bad")] : null]],
      [t("In all"), size(total)],
      [t("Warned below"), warn === 0 ? t("never") : size(warn)],
    ),
  );
}

/** @param {Found["backup"]} last */
function backupCard(last) {
  if (last === null) return card(t("Backups"), paragraph(tn("No backup was made yet. {setting} lets the server make them by itself.", { setting: code("backup.directory") })));
  return card(
    t("Backups"),
    last.failure === null ? null : h("p", { class: "note from-outside", role: "alert" }, t("The last attempt failed: {reason}", { reason: last.failure })),
    facts(
      [t("Last whole backup"), last.made_at === null ? t("none") : withDistance(last.made_at)],
      [t("Last attempt"), withDistance(last.tried_at)],
      [t("Size"), last.made_at === null ? "" : t("{all}, of which {added} were new", { all: size(last.bytes), added: size(last.new_bytes) })],
      [t("Kept"), last.kept.toLocaleString(locale())],
      [t("Directory"), h("code", { class: "from-outside" }, last.directory)],
    ),
    last.remarks.map((remark) => muted(fromOutside(remark))),
  );
}

const bytesColumn = /** @type {const} */ ([t("Size"), (/** @type {Room} */ { bytes }) => size(bytes)]);
const filesColumn = /** @type {const} */ ([t("Files"), (/** @type {Room} */ { files }) => files.toLocaleString(locale())]);

/**
 * @param {Found["parts"]} parts
 * @param {HTMLElement | null} clean
 * @param {HTMLElement} ordered
 */
function partsCard(parts, clean, ordered) {
  const name = (/** @type {Found["parts"][number]} */ { part }) => PARTS[part] ?? code(part);
  return card(
    t("What takes the room"),
    table(t("What takes the room"), [[t("What"), name], bytesColumn, filesColumn], parts),
    h("div", { class: "buttons" }, clean),
    ordered,
  );
}

/** @param {Found["guilds"]} guilds */
function guildsCard(guilds) {
  const name = (/** @type {Found["guilds"][number]} */ { guild_id: id, name: words }) => (id === "0" ? t("Private conversations") : link(guildPlace(id), words === null ? code(id) : fromOutside(words)));
  return card(t("Communities with the most files"), table(t("Communities with the most files"), [[t("Community"), name], bytesColumn, filesColumn], guilds));
}

/** @param {Found["accounts"]} accounts */
function accountsCard(accounts) {
  const name = (/** @type {Found["accounts"][number]} */ { user_id: id, username, discriminator }) =>
    username === null ? link(accountPlace(id), code(id)) : accountLink(id, { username, discriminator });
  return card(t("Accounts with the most files"), table(t("Accounts with the most files"), [[t("Account"), name], bytesColumn, filesColumn], accounts));
}
