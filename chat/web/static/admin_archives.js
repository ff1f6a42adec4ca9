// Archives of accounts and guilds: how far they are, and fetching them.

import { READS } from "./admin_operations.js";
import { accountLink, announce, code, fromOutside, guildPlace, inZone, link, progress, table, tag, withDistance } from "./admin_parts.js";
import { polled } from "./admin_polling.js";
import { ask } from "./admin_session.js";
import { ApiError } from "./api.js";
import { fill, h } from "./dom.js";

const LIMIT = 100;

export async function showArchives({ search, signal }) {
  const expired = search.get("include_expired") ?? "";
  return {
    title: "Archives",
    content: [
      h("p", { class: "muted" }, "What administrators had put together of accounts and guilds. Each is ordered on the page of what it is about."),
      h("p", {}, link(expired ? "/admin/archives" : "/admin/archives#include_expired=true", expired ? "Leave out those that have expired" : "With those that have expired")),
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
    "Archives",
    [
      ...(about ? [["Of", subject]] : []),
      ["State", state],
      ["Ordered", (archive) => [inZone(archive.requested_at), " by ", accountLink(archive.requested_by)]],
      ["Size", (archive) => (archive.file_size ? size(Number(archive.file_size)) : "–")],
      ["Kept until", (archive) => (archive.expires_at ? withDistance(archive.expires_at) : "–")],
      ["Actions", fetching],
    ],
    archives,
    { empty: "There is none." },
  );
}

function state(archive) {
  if (archive.failed_at) return [tag("failed", "off"), " ", fromOutside(archive.error_message ?? "")];
  if (archive.completed_at) return [tag("ready"), " ", inZone(archive.completed_at)];
  return h("span", { class: "progress" }, progress(archive.progress_percent, 100, "Progress"), ` ${archive.progress_percent} %, `, fromOutside(archive.progress_step ?? ""));
}

// The address works for a while only, so it is made when it is wanted.
function fetching(archive) {
  if (!archive.completed_at) return "–";
  const button = h("button", { type: "button" }, "Download");
  button.addEventListener("click", async () => {
    if (button.getAttribute("aria-disabled") === "true") return;
    button.setAttribute("aria-disabled", "true");
    try {
      const { subject_type, subject_id, archive_id } = archive;
      const { downloadUrl: address } = await ask(READS.archiveAddress, { params: { subject_type, subject_id, archive_id } });
      if (!/^https?:$/.test(new URL(address).protocol)) throw new ApiError(0, "BAD_ADDRESS", "The archive has an address that cannot be opened.");
      h("a", { href: address, download: "", rel: "noreferrer" }).click();
      announce("The archive is being downloaded.");
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
  const units = ["bytes", "KB", "MB", "GB", "TB"];
  let step = 0;
  let value = bytes;
  while (value >= 1_000 && step < units.length - 1) {
    value /= 1_000;
    step += 1;
  }
  return `${value.toLocaleString(undefined, { maximumFractionDigits: step === 0 ? 0 : 1 })} ${units[step]}`;
}
