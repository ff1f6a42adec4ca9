// Calls in words, and the way into one from wherever a person or a conversation is shown.

import { callerOf, mayCall, peopleInCall } from "../../store/calls.js";
import { t } from "../../words/catalogue.js";
import { nameOfChannel } from "./channels.js";
import { nameOf } from "./people.js";

/** @typedef {import("../shell/app.js").App} App */
/** @typedef {import("../../store/shapes.js").Channel} Channel */

/** @param {Pick<App, "store">} app @param {string} userId */
export function nameOfPerson({ store }, userId) {
  return nameOf({ store, guildId: null }, { id: userId, username: "" });
}

/** Who calls; the conversation where that is not known. @param {Pick<App, "store">} app @param {string} channelId */
export function callerName(app, channelId) {
  const { read } = app.store;
  const caller = callerOf(read, channelId);
  const channel = read.channels.get(channelId);
  if (caller !== null) return nameOfPerson(app, caller);
  return channel ? nameOfChannel(read, channel) : "\u2026";
}

/**
 * Go into the call; where nobody is in it yet, the others are rung.
 * @param {App} app
 * @param {string} channelId
 * @param {{withCamera?: boolean, isAnswer?: boolean}} [options] `isAnswer`: it rings here, whoever is in it.
 */
export function enterCall(app, channelId, { withCamera = false, isAnswer = false } = {}) {
  const rings = !isAnswer && peopleInCall(app.store.read, channelId).length === 0;
  app.open("voice", { place: { guildId: null, channelId }, withCamera, rings });
}

/**
 * @param {App} app
 * @param {Channel} channel
 * @returns {import("../shell/menu.js").Entry[]}
 */
export function callEntries(app, channel) {
  if (!app.voice.isThere || !mayCall(app.store.read, channel)) return [];
  const video = () => enterCall(app, channel.id, { withCamera: true });
  return [
    { label: t("call.start"), icon: "phone", run: () => enterCall(app, channel.id) },
    { label: t("call.video"), icon: "camera", run: video },
  ];
}
