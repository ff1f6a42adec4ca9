// Where the account is signed in.

import { fill, h } from "../client/base/dom.js";
import { byId, say, when } from "./dom.js";
import { complainingIn, confirmed } from "./dialogs.js";
import { onClick } from "./forms.js";
import { forget, signedIn } from "./session.js";
import { t, tn } from "./spoken.js";
import { proved } from "./sudo.js";

const section = byId("sessions");
const complain = complainingIn(section);

export async function showSessions() {
  const sessions = await signedIn("GET", "/v1/auth/sessions");
  fill(byId("session-list"), sessions.map(row));
  const others = sessions.filter(({ current }) => !current).map(({ id_hash }) => id_hash);
  const all = byId("sessions-end-others");
  all.hidden = others.length === 0;
  const fresh = /** @type {HTMLElement} */ (all.cloneNode(true));
  all.replaceWith(fresh);
  onClick(
    fresh,
    async () => {
      await confirmed({
        title: t("Sign out everywhere else?"),
        text: t("You stay signed in on this page only."),
        action: t("Sign out"),
      });
      await end(others);
      say(t("You are signed out everywhere else."), "good", section);
    },
    complain,
  );
}

/** @param {string[]} hashes */
async function end(hashes) {
  // The API takes up to a hundred at once.
  for (let start = 0; start < hashes.length; start += 100) {
    await proved("POST", "/v1/auth/sessions/logout", { session_id_hashes: hashes.slice(start, start + 100) });
  }
  await showSessions();
}

/** @param {import("wire").AuthSession["client_info"]} client */
function nameOf(client) {
  const { browser, os } = client ?? {};
  return browser && os ? t("{browser} on {os}", { browser, os }) : browser || os;
}

/** @param {import("wire").AuthSession} session */
function row(session) {
  const client = session.client_info;
  const name = nameOf(client) || client?.platform || t("Unknown device");
  /** @type {import("../client/base/dom.js").Child[]} */
  const facts = [];
  if (session.masked_ip) facts.push(t("from {address}", { address: session.masked_ip }), ", ");
  if (session.approx_last_used_at) facts.push(tn("last used {time}", { time: when(session.approx_last_used_at) }));
  const button = h("button", { type: "button", "aria-label": t("Sign out {name}", { name }) }, t("Sign out"));
  onClick(
    button,
    async () => {
      await proved("POST", "/v1/auth/sessions/logout", { session_id_hashes: [session.id_hash] });
      if (session.current) {
        forget();
        location.replace("/login");
        return;
      }
      await showSessions();
      say(t("{name} is signed out.", { name }), "good", section);
    },
    complain,
  );
  return h(
    "li",
    {},
    h(
      "div",
      { class: "what" },
      h("strong", { class: "from-outside" }, name),
      session.current ? [" ", h("span", { class: "tag" }, t("this page"))] : null,
      h("p", { class: "muted" }, facts),
    ),
    session.current ? null : h("div", { class: "buttons" }, button),
  );
}
