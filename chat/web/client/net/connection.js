// This browser's connection to the gateway: dispatches into the store, commands out, and what the person should know.

import { makeInterest } from "./interest.js";
import { makeSocket } from "./socket.js";

/** @typedef {import("./interest.js").Ranges} Ranges */
/** @typedef {import("./machine.js").Name | "following"} Name */
/** @typedef {{name: Name, until: number | null, wasLive: boolean}} State */
/**
 * @typedef {object} Connection
 * @property {State} state `until`: when a state that waits ends (Unix milliseconds).
 * @property {(run: () => void) => () => void} watch
 * @property {() => void} retry Connect now.
 * @property {() => void} start
 * @property {(guildId: string | null, channelId: string, ranges: Ranges) => void} show
 * @property {(op: number, data: any) => void} command
 * @property {() => void} stop
 */
/**
 * @typedef {object} Parts
 * @property {import("../store/store.js").Store} store
 * @property {string} address
 * @property {() => string} token
 * @property {(why: "sign_in" | "reload") => void} ended
 */

/**
 * @param {Parts} parts
 * @returns {Connection}
 */
export function makeConnection({ store, address, token, ended }) {
  /** @type {Set<() => void>} */
  const watchers = new Set();
  /** @type {State} */
  let state = { name: "connecting", until: null, wasLive: false };
  const socket = makeSocket({ address, token, dispatch, changed, ended });
  const interest = makeInterest(socket.command);

  /**
   * @param {string} name
   * @param {any} data
   */
  function dispatch(name, data) {
    store.apply(name, data, Date.now());
    if (name === "READY") interest.again();
  }

  /** @param {import("./machine.js").Life} life */
  function changed(life) {
    state = { name: life.name, until: life.until, wasLive: state.wasLive || life.name === "live" };
    store.put((read, touch) => {
      read.session = { ...read.session, live: life.name === "live" };
      touch("session");
    });
    for (const run of [...watchers]) run();
  }

  return {
    get state() {
      return state;
    },
    watch: (run) => (watchers.add(run), () => void watchers.delete(run)),
    retry: socket.retry,
    start: socket.start,
    show: interest.show,
    command: socket.command,
    stop: socket.stop,
  };
}
