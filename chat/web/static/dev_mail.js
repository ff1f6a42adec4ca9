// The mail that the instance would have sent.

import { fill, h } from "../client/base/dom.js";
import { act, ask } from "./dev_api.js";
import { copyable } from "./dev_parts.js";
import { byId, when } from "./dom.js";
import { t } from "./spoken.js";

const POLL_MS = 2_000;

/** @typedef {{to: string, subject: string, text: string, kind: string, token: string | null, created_at: string}} Mail */

let drawn = "";

export function start() {
  byId("mail-clear").addEventListener("click", async () => {
    await act(t("All mail is forgotten."), "DELETE", "/mail");
    await look();
  });
  setInterval(() => {
    if (!byId("mail").hidden && !document.hidden) void look();
  }, POLL_MS);
}

export async function look() {
  /** @type {Mail[] | undefined} */
  const mails = await ask("GET", "/mail");
  if (mails === undefined || JSON.stringify(mails) === drawn) return;
  drawn = JSON.stringify(mails);
  byId("no-mail").hidden = mails.length > 0;
  fill(byId("mails"), mails.toReversed().map((mail) => h("article", { class: "panel letter" },
    h("h3", {}, mail.subject),
    h("p", { class: "muted" }, mail.to, " · ", when(mail.created_at), " · ", h("code", {}, mail.kind)),
    mail.token === null ? null : h("p", {}, t("Token"), " ", copyable(mail.token, mail.token.length > 24 ? `${mail.token.slice(0, 24)}…` : mail.token)),
    h("pre", { class: "payload", tabindex: "0", role: "region", "aria-label": mail.subject }, mail.text),
  )));
}
