// The tabs of a browser share one connection: one tab leads and tells each dispatch, the others follow and ask it for
// what goes to the gateway. Whichever leads next resumes the session from the last dispatch that it was told.

import { makeLeader } from "./leader.js";

/** @typedef {import("../store/shapes.js").Payload} Payload */
/** @typedef {import("./connection.js").State} State */
/** @typedef {import("./interest.js").Sight} Sight */
/** @typedef {{session: string | null, seq: number}} At How far a tab has come. */
/**
 * @typedef {{type: "dispatch", name: string, data: Payload, seq: number}
 *   | {type: "state", leader: string, state: State}
 *   | {type: "clone", to: string, clone: Payload, at: At}
 *   | {type: "join" | "look" | "retry" | "leave", from: string}
 *   | {type: "show", from: string, sight: Sight | null}
 *   | {type: "command", op: number, data: Payload}} Told
 */
/**
 * @typedef {object} Parts
 * @property {string} name Of the tabs that belong together: of one account, with one version of the client.
 * @property {(at: At) => void} lead Connect: the session goes on at `at`.
 * @property {() => void} follow Leave the connection to another tab.
 * @property {(name: string, data: Payload, seq: number) => void} take Take a dispatch.
 * @property {(clone: Payload) => void} adopt Take over what the leader knows.
 * @property {() => Payload} clone What this tab knows.
 * @property {(state: State) => void} changed
 * @property {(told: Told) => void} asked What a following tab wants of the connection.
 */

/** How long a leader may be silent when it is asked. */
const SILENT_MS = 2000;
/** A tab that was busy itself first hears what has arrived meanwhile. */
const HEARING_MS = 100;

/** @param {Parts} parts */
export function makeTabs({ name, lead, follow, take, adopt, clone, changed, asked }) {
  const me = crypto.randomUUID();
  const channel = new BroadcastChannel(name);
  /** @type {At} */
  let at = { session: null, seq: 0 };
  /** @type {Sight | null} */
  let sight = null;
  /** @type {string | null} the tab that leads, as far as it is known */
  let known = null;
  /** @type {State | null} */
  let mine = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let patience;

  const leader = makeLeader({
    name,
    won() {
      isHeard();
      known = me;
      lead(at);
    },
    lost() {
      known = mine = null;
      follow();
      ask({ type: "join", from: me });
    },
  });

  /** @param {Told} told */
  const tell = (told) => channel.postMessage(told);

  /**
   * Ask the leader. One that is silent then hangs: its connection is taken over.
   * @param {Told} told
   */
  function ask(told) {
    tell(told);
    patience ??= setTimeout(() => {
      patience = setTimeout(leader.steal, HEARING_MS);
    }, SILENT_MS);
  }

  function isHeard() {
    clearTimeout(patience);
    patience = undefined;
  }

  channel.addEventListener("message", ({ data }) => hear(data));

  /** @param {Told} told */
  function hear(told) {
    if (leader.leads()) return void answer(told);
    if (told.type === "state") {
      isHeard();
      changed(told.state);
      if (told.leader === known) return undefined;
      known = told.leader;
      tell({ type: "show", from: me, sight });
      if (at.session === null) tell({ type: "join", from: me });
    } else if (told.type === "clone" && told.to === me) {
      isHeard();
      at = told.at;
      adopt(told.clone);
    } else if (told.type === "dispatch") {
      isHeard();
      followed(told);
    }
    return undefined;
  }

  /** @param {{name: string, data: Payload, seq: number}} told */
  function followed({ name: event, data, seq }) {
    const isFresh = event === "READY";
    if (!isFresh && (at.session === null || seq <= at.seq)) return;
    if (!isFresh && event !== "RESUMED" && seq !== at.seq + 1) return ask({ type: "join", from: me });
    at = isFresh ? { session: data.session_id, seq } : { ...at, seq: Math.max(at.seq, seq) };
    take(event, data, seq);
  }

  /** @param {Told} told */
  function answer(told) {
    if (told.type === "join" && at.session !== null) tell({ type: "clone", to: told.from, clone: clone(), at });
    if (mine && told.type !== "leave") tell({ type: "state", leader: me, state: mine });
    asked(told);
  }

  const controller = new AbortController();
  const { signal } = controller;
  const look = () => document.hidden || leader.leads() || ask({ type: "look", from: me });
  document.addEventListener("visibilitychange", look, { signal });
  window.addEventListener("focus", look, { signal });
  window.addEventListener("pagehide", () => leader.leads() || tell({ type: "leave", from: me }), { signal });

  return {
    me,
    leads: leader.leads,
    start() {
      leader.start();
      // The lock comes before the patience ends, unless another tab has it.
      ask({ type: "join", from: me });
    },
    /** The leader's connection changed. @param {State} state */
    announce(state) {
      mine = state;
      tell({ type: "state", leader: me, state });
    },
    /**
     * The leader took a dispatch.
     * @param {string} event
     * @param {Payload} data
     * @param {number} seq
     */
    pass(event, data, seq) {
      at = event === "READY" ? { session: data.session_id, seq } : { ...at, seq: Math.max(at.seq, seq) };
      tell({ type: "dispatch", name: event, data, seq });
    },
    /** @param {Sight | null} next */
    show(next) {
      sight = next;
      tell({ type: "show", from: me, sight });
    },
    /** @param {number} op @param {Payload} data */
    command: (op, data) => ask({ type: "command", op, data }),
    retry: () => ask({ type: "retry", from: me }),
    stop() {
      controller.abort();
      clearTimeout(patience);
      leader.stop();
      channel.close();
    },
  };
}
