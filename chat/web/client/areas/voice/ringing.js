// What is heard of a call that rings, and the notification where nobody looks: of several tabs one does it.

import { keptNotices, ring } from "../../base/notices.js";
import { pause } from "../../base/pause.js";
import { serviceWorker } from "../../base/trusted.js";
import { callerOf, ringsQuietly } from "../../store/calls.js";
import { callerName } from "../../views/names/calls.js";
import { avatarAddress } from "../../views/names/people.js";
import { t } from "../../words/catalogue.js";

/** @typedef {import("../../views/shell/app.js").App} App */
/** @typedef {import("../../store/shapes.js").Call} Call */

const EVERY_MS = 3000;
/** A tab that is looked at comes first; then those that the browser lets sound, since the person has touched them. */
const OTHERS_FIRST_MS = 200;

/** @param {App} app */
export function makeRinging(app) {
  /** @type {Map<string, AbortController>} by channel */
  const going = new Map();

  /** @param {string} channelId @param {string} lock @param {AbortSignal} signal */
  async function begin(channelId, lock, signal) {
    if (!document.hasFocus()) await pause(OTHERS_FIRST_MS);
    if (!navigator.userActivation?.hasBeenActive) await pause(OTHERS_FIRST_MS);
    if (signal.aborted) return;
    const locks = /** @type {LockManager | undefined} */ (navigator.locks);
    const run = () => sound(channelId, signal);
    // Whoever has it rings until the call rings no more; if that tab is closed, the next one goes on.
    if (locks) await locks.request(lock, { signal }, run);
    else await run();
  }

  /** @param {string} channelId @param {AbortSignal} signal */
  async function sound(channelId, signal) {
    const { read } = app.store;
    const isOver = new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    const isLoud = () => !signal.aborted && !ringsQuietly(read, channelId, app.now());
    if (isLoud() && !document.hasFocus()) void show(app, channelId, signal).catch(() => {});
    while (!signal.aborted) {
      if (isLoud()) await Promise.race([ring(isLoud).catch(() => {}), isOver]);
      await Promise.race([pause(EVERY_MS), isOver]);
    }
  }

  return {
    /** Ring for these and for no others. @param {Call[]} calls */
    show(calls) {
      for (const [id, controller] of going) {
        if (calls.some((call) => call.channel_id === id)) continue;
        going.delete(id);
        controller.abort();
      }
      for (const { channel_id: id, message_id: messageId } of calls) {
        if (going.has(id)) continue;
        const controller = new AbortController();
        going.set(id, controller);
        begin(id, `ring:${messageId}`, controller.signal).catch(() => {});
      }
    },
  };
}

/** @param {App} app @param {string} channelId @param {AbortSignal} signal */
async function show(app, channelId, signal) {
  if (!("Notification" in globalThis) || Notification.permission !== "granted" || !keptNotices().shows) return;
  const { users } = app.store.read;
  const caller = callerOf(app.store.read, channelId);
  const registration = await serviceWorker();
  const tag = `call ${channelId}`;
  const takeAway = async () => (await registration.getNotifications({ tag })).forEach((one) => one.close());
  await registration.showNotification(callerName(app, channelId), {
    body: t("call.incoming"),
    tag,
    silent: true,
    requireInteraction: true,
    data: { channel_id: channelId, url: new URL(`/channels/@me/${channelId}`, location.href).href },
    ...(caller !== null && { icon: avatarAddress(users.get(caller) ?? { id: caller, avatar: null }, 80) }),
  });
  // It may have ended while it was being shown.
  if (signal.aborted) await takeAway();
  else signal.addEventListener("abort", () => void takeAway());
}
