// Calls that ring: what shows them is loaded when the first one comes.

import { ringingCalls } from "../../store/calls.js";
import { ALL } from "../../store/store.js";

const TOPICS = /^(?:me|relationships)$|^voice:/;

/** @param {import("./app.js").App} app */
export function watchCalls(app) {
  const { store } = app;
  let isLoaded = false;

  /** @param {Set<string>} topics */
  function look(topics) {
    if (![...topics].some((topic) => TOPICS.test(topic))) return;
    if (!isLoaded && ringingCalls(store.read).length === 0) return;
    isLoaded = true;
    app.open("incoming");
  }

  return { stop: store.watch([ALL], look) };
}
