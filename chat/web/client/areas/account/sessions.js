// Where the account is signed in, and signing out there: one, or all but this one.

import { fill, h } from "../../base/dom.js";
import { card } from "../../views/settings/fields.js";
import { load } from "../../views/settings/loading.js";
import { plainName } from "../../views/names/people.js";
import { t } from "../../words/catalogue.js";
import { relative } from "../../words/dates.js";
import { proved } from "../../views/settings/proof.js";

/** @typedef {import("../../views/shell/app.js").App} App */

const AT_ONCE = 100;

/** @param {App} app */
export function makeSessions(app) {
  const acts = app.acts.accountSettings;
  const rows = h("ul", { class: "settings-rows" });
  const wait = h("p", { class: "small muted" }, t("settings.wait"));
  const others = h("button", { type: "button", class: "button danger", hidden: "" }, t("sessions.end_others"));
  /** @type {string[]} */
  let elsewhere = [];

  async function draw() {
    const sessions = await acts.sessions();
    elsewhere = sessions.filter((one) => !one.current).map((one) => one.id_hash);
    sessions.sort((one, other) => Number(other.current) - Number(one.current));
    others.hidden = elsewhere.length === 0;
    wait.remove();
    fill(rows, ...sessions.map(row));
  }

  /** @param {import("wire").AuthSession} session */
  function row(session) {
    const { client_info: client, masked_ip: from, approx_last_used_at: used } = session;
    const program = [client?.browser, client?.os].filter(Boolean).join(", ");
    const name = plainName(program || client?.platform || t("sessions.unknown"));
    const facts = [from, relative(Date.parse(used), app.now())].filter(Boolean).join(" \u00b7 ");
    const title = h("p", { class: "session-name" }, h("bdi", {}, name));
    if (session.current) title.append(" ", h("span", { class: "tag" }, t("sessions.here")));
    const words = h("div", { class: "settings-row-words" }, title, h("p", { class: "small muted" }, facts));
    const item = h("li", { class: "settings-row" }, words);
    if (session.current) return item;
    const label = t("sessions.end_one", { name });
    const press = () => void end([session.id_hash], t("sessions.ended", { name }));
    item.append(h("button", { type: "button", class: "button", "aria-label": label, click: press }, t("sessions.end")));
    return item;
  }

  /** @param {string[]} hashes @param {string} words */
  async function end(hashes, words) {
    try {
      for (let start = 0; start < hashes.length; start += AT_ONCE) {
        const some = hashes.slice(start, start + AT_ONCE);
        if (!(await proved(app, (proof) => acts.endSessions(some, proof)))) return;
      }
      app.layers.toast(words);
      await draw();
    } catch (error) {
      app.report(error);
    }
  }

  others.addEventListener("click", () => void end(elsewhere, t("sessions.ended_others")));
  load(app, draw);
  const element = h(
    "div",
    { class: "settings-cards" },
    card(t("sessions.title"), t("sessions.words"), wait, rows, h("div", { class: "buttons" }, others)),
  );
  return { element };
}
