// Whether this browser is told of messages while no client is open: the browser's own permission, its subscription,
// and the other browsers of the account.

import { fill, h } from "../../base/dom.js";
import { storage } from "../../base/storage.js";
import { serviceWorker } from "../../base/trusted.js";
import { card, toggle } from "../../views/settings/fields.js";
import { load } from "../../views/settings/loading.js";
import { t } from "../../words/catalogue.js";

/** @typedef {import("../../views/shell/app.js").App} App */

/** Under which name the server knows this browser. */
const KEPT = "push:id";

/** @param {App} app */
export function makePush(app) {
  const acts = app.acts.accountSettings;
  const ground = h("div", { class: "push-ground" }, h("p", { class: "small muted" }, t("settings.wait")));
  const element = card(t("push.title"), t("push.words"), ground);

  async function draw() {
    if (!("serviceWorker" in navigator) || !("PushManager" in window)) return say(t("push.unable"));
    const key = await acts.pushKey();
    if (key === null) return say(t("push.off"));
    const own = await subscription();
    const others = await acts.pushed();
    const change = (/** @type {boolean} */ wanted) => (wanted ? begin(key) : end());
    const here = toggle({ label: t("push.here"), checked: own !== null, change, report: app.report });
    /** @type {HTMLElement[]} */
    const parts = [here];
    if (Notification.permission === "denied") {
      here.querySelector("input")?.setAttribute("disabled", "");
      parts.push(h("p", { class: "note small" }, t("push.denied")));
    }
    if (others.length > 0) parts.push(h("h3", {}, t("push.browsers")), list(others));
    return fill(ground, ...parts);
  }

  /** @param {string} words */
  function say(words) {
    fill(ground, h("p", { class: "note small" }, words));
  }

  /** @param {{subscription_id: string, user_agent: string | null}[]} browsers */
  function list(browsers) {
    const rows = browsers.map(({ subscription_id: id, user_agent: agent }) => {
      const name = browserOf(agent);
      const label = t("push.stop_browser", { name });
      const stop = () => acts.unsubscribe(id).then(draw, app.report);
      const button = h("button", { type: "button", class: "button", "aria-label": label, click: stop }, t("push.stop"));
      return h("li", { class: "settings-row" }, h("bdi", { class: "clip" }, name), button);
    });
    return h("ul", { class: "settings-rows" }, ...rows);
  }

  /** @param {string} key */
  async function begin(key) {
    if ((await Notification.requestPermission()) !== "granted") {
      await draw();
      throw new Error(t("push.denied"));
    }
    const registration = await serviceWorker();
    const options = { userVisibleOnly: true, applicationServerKey: key };
    const made = await registration.pushManager.subscribe(options);
    await storage.put(KEPT, await acts.subscribe(made.toJSON()));
    await draw();
  }

  async function end() {
    await endPush(app);
    await draw();
  }

  load(app, async () => {
    try {
      await draw();
    } catch (error) {
      const isUnreached = /** @type {{status?: number}} */ (error).status === 0;
      say(isUnreached ? t("fault.no_answer") : t("push.unable"));
      throw error;
    }
  });
  return element;
}

/**
 * This browser is told no more.
 * @param {App} app
 */
export async function endPush(app) {
  const [own, id] = await Promise.all([subscription(), storage.get(KEPT)]);
  await own?.unsubscribe();
  if (id) await app.acts.accountSettings.unsubscribe(id);
  await storage.remove(KEPT);
}

/** @returns {Promise<PushSubscription | null>} that of this browser */
async function subscription() {
  const registration = await navigator.serviceWorker?.getRegistration();
  return (await registration?.pushManager.getSubscription()) ?? null;
}

/** @type {readonly [RegExp, string][]} the more special first */
const BROWSERS = [
  [/Edg\//, "Edge"],
  [/OPR\//, "Opera"],
  [/Firefox\//, "Firefox"],
  [/Chrome\//, "Chrome"],
  [/Safari\//, "Safari"],
];

/** @param {string | null} agent */
function browserOf(agent) {
  return BROWSERS.find(([sign]) => sign.test(agent ?? ""))?.[1] ?? t("push.some_browser");
}
