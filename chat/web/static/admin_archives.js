// Archives of accounts and guilds: how far they are, and fetching them.

import { READS } from "./admin_operations.js";
import { accountLink, announce, code, fromOutside, guildPlace, inZone, link, progress, table, tag, withDistance } from "./admin_parts.js";
import { polled } from "./admin_polling.js";
import { ask } from "./admin_session.js";
import { ApiError } from "./api.js";
import { fill, h } from "./dom.js";
import { locale, t, tn } from "./spoken.js";

const LIMIT = 100;

export async function showArchives({ search, signal }) {
  const expired = search.get("include_expired") ?? "";
  return {
    title: t("Archives"),
    content: [
      h("p", { class: "muted" }, t("What administrators had put together of accounts and guilds. Each is ordered on the page of what it is about.")),
      h("p", {}, link(expired ? "/admin/archives" : "/admin/archives#include_expired=true", expired ? t("Leave out those that have expired") : t("With those that have expired"))),
      await archivesOf({ include_expired: expired || undefined }, signal, { about: true }),
    ],
  };
}

// The table of those archives, kept up to date while one is being built.
export async function archivesOf(wanted, signal, { about = false } = {}) {
  const read = async () => (await ask(READS.archives, { query: { ...wanted, limit: LIMIT }, signal })).archives;
  const first = await read();
  const place = h("div", {}, drawn(first, about));
  const isDone = (archives) => archives.every((archive) => archive.completed_at || archive.failed_at);
  if (!isDone(first)) polled(first, read, (archives) => fill(place, drawn(archives, about)), { signal, isDone });
  return place;
}

function drawn(archives, about) {
  const subject = (archive) =>
    archive.subject_type === "user" ? accountLink(archive.subject_id) : link(guildPlace(archive.subject_id), code(archive.subject_id));
  return table(
    t("Archives"),
    [
      ...(about ? [[t("Of"), subject]] : []),
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

function state(archive) {
  if (archive.failed_at) return [tag(t("failed"), "off"), " ", fromOutside(archive.error_message ?? "")];
  if (archive.completed_at) return [tag(t("ready")), " ", inZone(archive.completed_at)];
  return h("span", { class: "progress" }, progress(archive.progress_percent, 100, t("Progress")), ` ${archive.progress_percent} %, `, fromOutside(archive.progress_step ?? ""));
}

// The address works for a while only, so it is made when it is wanted.
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
