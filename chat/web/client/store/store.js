// The client's knowledge: dispatches in, state out, and who watches a topic is run once for all that touched it.

import { CHANNEL_EVENTS } from "./channels.js";
import { GUILD_EVENTS } from "./guilds.js";
import { isEphemeral } from "./interactions.js";
import { LOG_EVENTS } from "./logs.js";
import { MEMBER_LIST_EVENTS } from "./member_lists.js";
import { MEMBER_EVENTS } from "./members.js";
import { PASSING_EVENTS } from "./passing.js";
import { READ_EVENTS } from "./reads.js";
import { takeReady } from "./ready.js";
import { SETTINGS_EVENTS } from "./settings.js";
import { emptyState } from "./shapes.js";
import { THREAD_EVENTS } from "./threads.js";
import { USER_EVENTS } from "./users.js";

/** @typedef {import("./shapes.js").Payload} Payload */
/** @typedef {import("./shapes.js").Apply} Apply */
/** @typedef {import("./shapes.js").State} State */
/** @typedef {import("./shapes.js").Topic} Topic */
/** @typedef {import("./shapes.js").Touch} Touch */
/** @typedef {(touched: Set<Topic>) => void} Run */
/**
 * @typedef {object} Store
 * @property {State} read Nothing but the store changes it.
 * @property {(type: string, data: Payload, now?: number) => void} apply Take a dispatch; an unknown one is passed over.
 * @property {(change: (state: State, touch: Touch) => void) => void} put Make an optimistic change.
 * @property {(topics: Topic[], run: Run) => () => void} watch Run at each flush that has one of the topics; ends it.
 * @property {(topic: Topic) => number} version How often the topic was touched.
 * @property {() => void} flush Run the watchers of what was touched since the last time.
 */

/**
 * The order within a row matters: unread counts look at a channel's newest message before it is another one.
 * @type {import("./shapes.js").Applying[]}
 */
const TABLES = [
  READ_EVENTS,
  { READY: takeReady },
  USER_EVENTS,
  SETTINGS_EVENTS,
  GUILD_EVENTS,
  MEMBER_EVENTS,
  CHANNEL_EVENTS,
  THREAD_EVENTS,
  MEMBER_LIST_EVENTS,
  PASSING_EVENTS,
  LOG_EVENTS,
];

/** Who watches it hears of every topic. */
export const ALL = "*";

/**
 * @param {{wake?: () => void, report?: (error: unknown) => void}} [surroundings] `wake` asks for a flush before long,
 *   `report` hears what a watcher threw.
 * @returns {Store}
 */
export function makeStore({ wake = () => {}, report = () => {} } = {}) {
  const read = emptyState();
  /** @type {Map<Topic, number>} */
  const versions = new Map();
  /** @type {Map<Topic, Set<Run>>} */
  const watchers = new Map();
  /** @type {Set<Topic>} */
  let touched = new Set();

  /** @param {Topic} topic */
  function touch(topic) {
    versions.set(topic, (versions.get(topic) ?? 0) + 1);
    if (touched.size === 0) wake();
    touched.add(topic);
  }

  function flush() {
    const topics = touched;
    touched = new Set();
    /** @type {Map<Run, Set<Topic>>} */
    const due = new Map();
    for (const topic of topics) {
      for (const run of watchers.get(topic) ?? []) {
        due.set(run, (due.get(run) ?? new Set()).add(topic));
      }
    }
    for (const run of topics.size > 0 ? (watchers.get(ALL) ?? []) : []) due.set(run, topics);
    for (const [run, its] of due) {
      try {
        run(its);
      } catch (error) {
        report(error);
      }
    }
  }

  return {
    read,
    apply(type, data, now = 0) {
      // What the account alone sees is unread for nobody, and no channel's newest message.
      const tables = type === "MESSAGE_CREATE" && isEphemeral(data) ? [LOG_EVENTS] : TABLES;
      for (const table of tables) {
        const known = /** @type {Readonly<Record<string, Apply>>} */ (table);
        if (Object.hasOwn(known, type)) /** @type {Apply} */ (known[type])(read, data, touch, now);
      }
    },
    put(change) {
      change(read, touch);
    },
    watch(topics, run) {
      for (const topic of topics) watchers.set(topic, (watchers.get(topic) ?? new Set()).add(run));
      return () => {
        for (const topic of topics) {
          const runs = watchers.get(topic);
          runs?.delete(run);
          if (runs?.size === 0) watchers.delete(topic);
        }
      };
    },
    version: (topic) => versions.get(topic) ?? 0,
    flush,
  };
}
