// This browser's connection to the gateway: dispatches into the store, commands out, and what the person should know.

import { adopt, cloneOf } from "../store/clone.js";
import { makeInterest } from "./interest.js";
import { makeSocket } from "./socket.js";
import { makeTabs } from "./tabs.js";

/** @typedef {import("../store/shapes.js").Payload} Payload */
/** @typedef {import("./interest.js").Ranges} Ranges */
/** @typedef {import("./machine.js").Name | "following"} Name */
/** @typedef {{name: Name, until: number | null, wasLive: boolean}} State */
/** @typedef {(name: string, data: Payload) => void} Hear */
/**
 * @typedef {object} Connection
 * @property {State} state `until`: when a state that waits ends (Unix milliseconds).
 * @property {(run: () => void) => () => void} watch
 * @property {(run: Hear) => () => void} hear Each dispatch, once it is in the store.
 * @property {() => void} retry Connect now.
 * @property {() => void} start
 * @property {(guildId: string | null, channelId: string, ranges: Ranges) => void} show
 * @property {(op: number, data: unknown) => void} command
 * @property {() => void} stop
 */
/**
 * @typedef {object} Parts
 * @property {import("../store/store.js").Store} store
 * @property {string} address
 * @property {() => string} token
 * @property {(why: "sign_in" | "reload") => void} ended
 * @property {string | null} shared The name under which tabs share one connection; null: this tab has its own.
 */
/** @typedef {import("./tabs.js").At} At */

/** The tab's name among those that share the connection with none. */
const ALONE = "alone";

/**
 * @param {Parts} parts
 * @returns {Connection}
 */
export function makeConnection({ store, address, token, ended, shared }) {
  /** @type {Set<() => void>} */
  const watchers = new Set();
  /** @type {Set<Hear>} */
  const hearers = new Set();
  /** @type {State} */
  let state = { name: shared === null ? "connecting" : "following", until: null, wasLive: false };
  /** @type {ReturnType<typeof makeSocket> | null} while this tab leads */
  let socket = null;
  const interest = makeInterest((op, data) => socket?.command(op, data));
  const tabs = shared === null ? null : share(shared);

  /** @param {string} name */
  function share(name) {
    const clone = () => cloneOf(store.read);
    const adopted = (/** @type {Payload} */ told) => store.put((read, touch) => adopt(read, told, touch));
    return makeTabs({ name, lead, follow, take: taken, adopt: adopted, clone, changed, asked });
  }

  /** @param {string} name @param {Payload} data */
  function taken(name, data) {
    store.apply(name, data, Date.now());
    for (const run of hearers) run(name, data);
  }

  /** @param {At} at */
  function lead(at) {
    socket = makeSocket({ address, token, dispatch, changed: moved, ended, at });
    socket.start();
  }

  function follow() {
    socket?.stop();
    socket = null;
  }

  /** @param {import("./tabs.js").Told} told */
  function asked(told) {
    if (told.type === "command") socket?.command(told.op, told.data);
    else if (told.type === "show") interest.show(told.from, told.sight);
    else if (told.type === "leave") interest.show(told.from, null);
    else if (told.type === "look") socket?.look();
    else if (told.type === "retry") socket?.retry();
  }

  /**
   * @param {string} name
   * @param {Payload} data
   * @param {number} seq
   */
  function dispatch(name, data, seq) {
    taken(name, data);
    tabs?.pass(name, data, seq);
  }

  /** @param {import("./machine.js").Life} life */
  function moved({ name, until }) {
    changed({ name, until, wasLive: state.wasLive || name === "live" });
    tabs?.announce(state);
    if (name === "live") interest.again();
  }

  /** @param {State} next */
  function changed(next) {
    state = next;
    store.put((read, touch) => {
      read.session = { ...read.session, live: next.name === "live" };
      touch("session");
    });
    for (const run of [...watchers]) run();
  }

  return {
    get state() {
      return state;
    },
    watch: (run) => (watchers.add(run), () => void watchers.delete(run)),
    hear: (run) => (hearers.add(run), () => void hearers.delete(run)),
    retry: () => (socket ? socket.retry() : tabs?.retry()),
    start: () => (tabs ? tabs.start() : lead({ session: null, seq: 0 })),
    show(guildId, channelId, ranges) {
      const sight = guildId === null ? null : { guildId, channelId, ranges };
      interest.show(tabs?.me ?? ALONE, sight);
      tabs?.show(sight);
    },
    command: (op, data) => (socket ? socket.command(op, data) : tabs?.command(op, data)),
    stop() {
      follow();
      tabs?.stop();
    },
  };
}
