// What became of a message that was sent: it waits, nobody knows, or it was refused.

import { h } from "../../base/dom.js";
import { t } from "../../words/catalogue.js";

/** @param {import("./row.js").Sending} sending @param {string | null} fault Why it was refused. */
export function fate(sending, fault) {
  if (sending === null || sending === "sending" || sending === "sent") return null;
  if (sending === "queued") return h("p", { class: "fate meta" }, t("message.queued"));
  // Without a network nothing was asked yet: it goes again by itself.
  if (sending === "unsure" && !navigator.onLine) return h("p", { class: "fate meta" }, t("message.queued"));
  const words = sending === "failed" ? t("message.failed") : t("message.unsure");
  return h(
    "p",
    { class: "fate" },
    h("span", {}, words, ...(sending === "failed" && fault ? [" ", h("bdi", {}, fault)] : [])),
    h("button", { type: "button", class: "button plain", "data-act": "retry" }, t("message.retry")),
    h("button", { type: "button", class: "button plain", "data-act": "discard" }, t("message.discard")),
  );
}
