// What the instance holds of the account, put together to be taken along.

import { fill, h } from "../../base/dom.js";
import { bytes } from "../../views/messages/media.js";
import { card } from "../../views/settings/fields.js";
import { proved } from "../../views/settings/proof.js";
import { load } from "../../views/settings/loading.js";
import { t } from "../../words/catalogue.js";
import { full, number } from "../../words/dates.js";

/** @typedef {import("../../views/shell/app.js").App} App */
/** @typedef {import("wire").OwnArchive | null} Archive */

const POLL_MS = 2000;

/** @param {App} app */
export function makeArchive(app) {
  const acts = app.acts.accountSettings;
  const files = h("input", { type: "checkbox" });
  const order = h("button", { type: "button", class: "button", click: () => void act(ordered) }, t("archive.order"));
  const fetch = h(
    "button",
    { type: "button", class: "button", hidden: "", click: () => void act(fetched) },
    t("archive.fetch"),
  );
  const state = h("p", { class: "small muted", role: "status" });
  let timer = 0;
  let isOver = false;

  async function look() {
    const archive = await acts.archive();
    if (!isOver) draw(archive);
  }

  /** @param {Archive} archive */
  function draw(archive) {
    const isUnderWay = archive !== null && !archive.completed_at && !archive.failed_at;
    const isThere = archive !== null && archive.file_size !== null && Date.parse(archive.expires_at) > app.now();
    const next = archive === null ? 0 : Date.parse(archive.next_at);
    fill(state, wordsOf(archive, isUnderWay, isThere, next));
    fetch.hidden = !isThere;
    order.disabled = isUnderWay || next > app.now();
    if (isUnderWay) timer = window.setTimeout(() => look().catch(app.report), POLL_MS);
  }

  /** @param {Archive} archive @param {boolean} isUnderWay @param {boolean} isThere @param {number} next */
  function wordsOf(archive, isUnderWay, isThere, next) {
    if (archive === null) return "";
    if (isUnderWay) return t("archive.under_way", { percent: number(archive.progress_percent) });
    if (archive.failed_at) return t("archive.failed");
    const again = next > app.now() ? t("archive.again", { time: full(next) }) : "";
    if (!isThere) return again;
    const size = bytes(Number(archive.file_size));
    return `${t("archive.ready", { size, time: full(Date.parse(archive.expires_at)) })} ${again}`.trim();
  }

  /** @param {() => Promise<void>} what */
  async function act(what) {
    try {
      await what();
    } catch (error) {
      app.report(error);
    }
  }

  async function ordered() {
    let made = /** @type {import("wire").OwnArchive | null} */ (null);
    await proved(app, async (proof) => {
      const answer = await acts.orderArchive(files.checked, proof);
      made = /** @type {import("wire").OwnArchive} */ (answer.data);
      return answer;
    });
    if (made) draw(made);
  }

  async function fetched() {
    let found = /** @type {{download_url: string} | null} */ (null);
    await proved(app, async (proof) => {
      const answer = await acts.archiveAddress(proof);
      found = /** @type {{download_url: string}} */ (answer.data);
      return answer;
    });
    if (found) h("a", { href: found.download_url, download: "", rel: "noreferrer" }).click();
  }

  load(app, look);
  const choice = h("label", { class: "check" }, files, h("span", {}, t("archive.files")));
  return {
    element: card(t("archive.title"), t("archive.words"), choice, state, h("div", { class: "buttons" }, order, fetch)),
    stop() {
      isOver = true;
      clearTimeout(timer);
    },
  };
}
