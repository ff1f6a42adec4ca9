// Voice: joined by a press on a channel; bar, stage and keys come with the first join and stay.

import { fill } from "../../base/dom.js";
import { ALL } from "../../store/store.js";
import { makeBar } from "./bar.js";
import { makeSession } from "./session.js";
import { makeStage } from "./stage.js";
import { holdToTalk } from "./talking.js";

/** @typedef {import("../../views/shell/app.js").App} App */
/** @typedef {import("../../acts/voice.js").Room} Place */

/** @type {WeakMap<App, import("./session.js").Session>} */
const SESSIONS = new WeakMap();

/** @param {{app: App, place: Place}} parts */
export function open({ app, place }) {
  const session = SESSIONS.get(app) ?? begin(app);
  session.join(place);
}

/** @param {App} app */
function begin(app) {
  const { voice, store } = app;
  const session = makeSession(app);
  SESSIONS.set(app, session);
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
  return session;
}
