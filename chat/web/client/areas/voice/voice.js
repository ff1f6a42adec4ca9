// Voice: joined by a press on a channel; bar, stage and keys come with the first join and stay.

import { fill } from "../../base/dom.js";
import { ALL } from "../../store/store.js";
import { makeBar } from "./bar.js";
import { makeSession } from "./session.js";
import { makeStage } from "./stage.js";
import { holdToTalk } from "./talking.js";
import { watchWaiting } from "./waiting.js";

/** @typedef {import("../../views/shell/app.js").App} App */
/** @typedef {import("../../acts/voice.js").Room} Place */

/** @type {WeakMap<App, {session: import("./session.js").Session, waiting: ReturnType<typeof watchWaiting>}>} */
const SESSIONS = new WeakMap();

/**
 * @param {object} parts
 * @param {App} parts.app
 * @param {Place} parts.place
 * @param {boolean} [parts.withCamera]
 * @param {boolean} [parts.rings] Ring those of the conversation who are not in the call.
 */
export function open({ app, place, withCamera = false, rings = false }) {
  const { session, waiting } = SESSIONS.get(app) ?? begin(app);
  const ring = () => void waiting.ring(place.channelId).catch(app.report);
  session.join(place, rings ? ring : undefined);
  if (withCamera && !session.own.sending.has("CAMERA")) session.own.toggle("CAMERA");
}

/** @param {App} app */
function begin(app) {
  const { voice, store } = app;
  const session = makeSession(app);
  const bar = makeBar(app, session);
  const stage = makeStage(app, session);
  fill(voice.bar, bar.element);
  fill(voice.stage, stage.element);
  const draw = () => (bar.draw(), stage.draw());
  voice.watch(draw);
  session.watch(draw);
  store.watch([ALL], (topics) => {
    if (voice.now.phase !== "away" && [...topics].some((topic) => /^(?:voice|channel|user|guild):/.test(topic))) draw();
  });
  voice.wake = stage.wake;
  voice.keys = { mute: session.own.mute, deafen: session.own.deafen };
  holdToTalk(session.own.byKey);
  const parts = { session, waiting: watchWaiting(app) };
  SESSIONS.set(app, parts);
  return parts;
}
