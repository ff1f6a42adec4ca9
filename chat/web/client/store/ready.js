// A fresh Ready replaces all that is known, but for messages that are shown and those that wait to be sent.

import { putGuild } from "./guilds.js";
import { keepLog } from "./logs.js";
import { noteUnheard, readOf } from "./reads.js";
import { byId } from "./shapes.js";
import { putPresence, putRelationship } from "./users.js";

/** @typedef {import("./shapes.js").Payload} Payload */
/** @typedef {import("./shapes.js").Touch} Touch */

/**
 * @param {import("./shapes.js").State} state
 * @param {Payload} ready
 * @param {Touch} touch
 */
export function takeReady(state, ready, touch) {
  renew(state, touch, () => replace(state, ready));
}

/**
 * Put other knowledge in place of what is there; messages that are shown stay.
 * @param {import("./shapes.js").State} state
 * @param {Touch} touch
 * @param {() => void} run Replaces all but the logs and the outbox.
 */
export function renew(state, touch, run) {
  const before = state.channels;
  const logs = [...state.logs];
  state.logs.clear();
  run();
  for (const [id, log] of logs) {
    keepLog(state, id, log);
    touch(`log:${id}`);
  }
  for (const topic of ["me", "guilds", "channels:@me", "relationships", ...topicsOf(state, before)]) touch(topic);
}

/**
 * @param {import("./shapes.js").State} state
 * @param {Payload} ready
 */
function replace(state, ready) {
  state.session = { id: ready.session_id, me: ready.user.id, live: true };
  state.settings = ready.user_settings;
  state.guildSettings.clear();
  for (const entry of ready.user_guild_settings) state.guildSettings.set(`${entry.guild_id}`, entry);
  state.notes = new Map(Object.entries(ready.notes));
  state.users = byId([...ready.users, ready.user]);
  state.pinned = ready.pinned_dms;
  state.memes = ready.favorite_memes;
  const { presences, relationships, guilds, lists, typing, voice, calls, joined } = state;
  for (const known of [presences, relationships, guilds, lists, typing, voice, calls, joined]) known.clear();
  state.channels = byId(ready.private_channels);
  for (const entry of ready.relationships) putRelationship(state, entry);
  for (const presence of ready.presences) putPresence(state, presence);
  state.reads = new Map(ready.read_states.map((/** @type {Payload} */ entry) => [entry.id, readOf(entry)]));
  for (const guild of ready.guilds) putGuild(state, guild);
  noteUnheard(state);
}

/**
 * @param {import("./shapes.js").State} state
 * @param {Map<string, unknown>} before The channels that were known.
 */
function* topicsOf(state, before) {
  for (const id of state.guilds.keys()) yield* [`guild:${id}`, `channels:${id}`];
  for (const id of new Set([...before.keys(), ...state.channels.keys()])) yield* [`channel:${id}`, `read:${id}`];
}
