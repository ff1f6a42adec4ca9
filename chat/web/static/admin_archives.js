// Archives of accounts and guilds: how far they are, and fetching them.

import { fill, h } from "../client/base/dom.js";
import { READS } from "./admin_operations.js";
import { accountLink, announce, code, fromOutside, guildPlace, inZone, link, progress, table, tag, withDistance } from "./admin_parts.js";
import { polled } from "./admin_polling.js";
import { ask } from "./admin_session.js";
import { ApiError } from "./api.js";
import { locale, t, tn } from "./spoken.js";

const LIMIT = 100;

/** @typedef {import("wire").Answer<"GET", "/v1/admin/archives">["archives"][number]} Archive */
/** @typedef {import("../client/base/dom.js").Child} Child */

/**
 * @param {import("./admin_places.js").Visit} visit
 * @returns {Promise<import("./admin_places.js").Shown>}
 */
export async function showArchives({ search, signal }) {
  const expired = search.get("include_expired") ?? "";
  return {
    title: t("Archives"),
    content: [
      h("p", { class: "muted" }, t("What administrators had put together of accounts and communities. Each is ordered on the page of what it is about.")),
      h("p", {}, link(expired ? "/admin/archives" : "/admin/archives#include_expired=true", expired ? t("Leave out those that have expired") : t("With those that have expired"))),
      await archivesOf({ include_expired: expired || undefined }, signal, { about: true }),
    ],
  };
}

/**
 * The table of those archives, kept up to date while one is being built.
 * @param {import("./admin_session.js").Query} wanted
 * @param {AbortSignal} signal
 * @param {{about?: boolean}} [options]
 */
export async function archivesOf(wanted, signal, { about = false } = {}) {
  const read = async () => (await ask(READS.archives, { query: { ...wanted, limit: LIMIT }, signal })).archives;
  const first = await read();
  const place = h("div", {}, drawn(first, about));
  const isDone = (/** @type {Archive[]} */ archives) =>
    archives.every((archive) => archive.completed_at !== null || archive.failed_at !== null);
  if (!isDone(first)) void polled(first, read, (archives) => fill(place, drawn(archives, about)), { signal, isDone });
  return place;
}

/**
 * @param {Archive[]} archives
 * @param {boolean} about
 */
function drawn(archives, about) {
  const subject = (/** @type {Archive} */ archive) =>
    archive.subject_type === "user" ? accountLink(archive.subject_id) : link(guildPlace(archive.subject_id), code(archive.subject_id));
  /** @type {[string, (archive: Archive) => Child][]} */
  const of = about ? [[t("Of"), subject]] : [];
  return table(
    t("Archives"),
    [
      ...of,
      [t("State"), state],
      [t("Ordered"), (archive) => tn("{time} by {account}", { time: inZone(archive.requested_at), account: accountLink(archive.requested_by) })],
      [t("Size"), (archive) => (archive.file_size ? size(Number(archive.file_size)) : "–")],
      [t("Kept until"), (archive) => (archive.expires_at ? withDistance(archive.expires_at) : "–")],
      [t("Actions"), fetching],
    ],
    archives,
    { empty: t("There is none.") },
  );
}

/** @param {Archive} archive */
function state(archive) {
  if (archive.failed_at) return [tag(t("failed"), "off"), " ", fromOutside(archive.error_message ?? "")];
  if (archive.completed_at) return [tag(t("ready")), " ", inZone(archive.completed_at)];
  return h("span", { class: "progress" }, progress(archive.progress_percent, 100, t("Progress")), ` ${archive.progress_percent} %, `, fromOutside(archive.progress_step ?? ""));
}

/**
 * The address works for a while only, so it is made when it is wanted.
 * @param {Archive} archive
 */
function fetching(archive) {
  if (!archive.completed_at) return "–";
  const button = h("button", { type: "button" }, t("Download"));
  button.addEventListener("click", async () => {
    if (button.getAttribute("aria-disabled") === "true") return;
    button.setAttribute("aria-disabled", "true");
    try {
      const { subject_type, subject_id, archive_id } = archive;
      const { downloadUrl: address } = await ask(READS.archiveAddress, { params: { subject_type, subject_id, archive_id } });
      if (!/^https?:$/.test(new URL(address).protocol)) throw new ApiError(0, "BAD_ADDRESS", t("The archive has an address that cannot be opened."));
      h("a", { href: address, download: "", rel: "noreferrer" }).click();
      announce(t("The archive is being downloaded."));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      announce(error.message, "bad");
    } finally {
      button.removeAttribute("aria-disabled");
    }
  });
  return button;
}

/** @param {number} bytes */
export function size(bytes) {
  const units = [t("bytes"), "KB", "MB", "GB", "TB"];
  let step = 0;
  let value = bytes;
  while (value >= 1_000 && step < units.length - 1) {
    value /= 1_000;
    step += 1;
  }
  return `${value.toLocaleString(locale(), { maximumFractionDigits: step === 0 ? 0 : 1 })} ${units[step]}`;
}
