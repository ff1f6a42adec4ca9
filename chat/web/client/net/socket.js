// The socket of a connection: it feeds the machine and does what the machine says.

import { beginning, dueOf, step } from "./machine.js";

/** @typedef {import("../store/shapes.js").Payload} Payload */
/** @typedef {import("./machine.js").Input} Input */
/** @typedef {import("./machine.js").Life} Life */
/**
 * @typedef {object} SocketParts
 * @property {string} address Of the gateway, with its query.
 * @property {() => string} token
 * @property {(name: string, data: Payload, seq: number) => void} dispatch
 * @property {(life: Life) => void} changed
 * @property {(why: "sign_in" | "reload") => void} ended
 * @property {{session: string | null, seq: number}} at Where a session goes on that a tab before this one had.
 */

const LEAVING = 4000;

/** @param {SocketParts} parts */
export function makeSocket({ address, token, dispatch, changed, ended, at }) {
  /** @type {Life} */
  let life = { ...beginning(), ...at };
  /** @type {WebSocket | null} */
  let socket = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  /** @param {Input} input */
  function take(input) {
    const before = life;
    const done = step(life, input, { now: Date.now(), random: Math.random() });
    life = done.life;
    for (const effect of done.effects) act(effect);
    const due = dueOf(life);
    if (due !== dueOf(before) || input.type === "tick") {
      clearTimeout(timer);
      if (due !== null) timer = setTimeout(() => take({ type: "tick" }), Math.max(0, due - Date.now()));
    }
    if (life.name !== before.name || life.until !== before.until) changed(life);
  }

  /** @param {import("./machine.js").Effect} effect */
  function act(effect) {
    switch (effect.type) {
      case "connect":
        return open();
      case "disconnect":
        return leave();
      case "identify":
        return send(2, { token: token(), properties: properties(), flags: THREADS });
      case "resume":
        return send(6, { token: token(), session_id: life.session, seq: life.seq });
      case "heartbeat":
        return send(1, life.session === null ? null : life.seq);
      case "dispatch":
        return dispatch(effect.name, effect.data, effect.seq);
      case "reload":
      case "sign_in":
        leave();
        return ended(effect.type);
    }
  }

  function open() {
    leave();
    const mine = new WebSocket(address);
    socket = mine;
    const isMine = () => socket === mine;
    mine.addEventListener("message", ({ data }) => isMine() && take({ type: "payload", payload: JSON.parse(data) }));
    mine.addEventListener("close", ({ code }) => {
      if (!isMine()) return;
      socket = null;
      take({ type: "closed", code });
    });
  }

  function leave() {
    const left = socket;
    socket = null;
    left?.close(LEAVING);
  }

  /**
   * @param {number} op
   * @param {Payload} d
   */
  function send(op, d) {
    if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ op, d }));
  }

  const controller = new AbortController();
  const { signal } = controller;
  window.addEventListener("online", () => take({ type: "online" }), { signal });
  window.addEventListener("offline", () => take({ type: "offline" }), { signal });
  document.addEventListener("visibilitychange", () => document.hidden || take({ type: "visible" }), { signal });

  return {
    life: () => life,
    start: () => take({ type: "start" }),
    retry: () => take({ type: "retry" }),
    /** A person looks at one of the tabs. */
    look: () => take({ type: "visible" }),
    /**
     * A command, while the session lives: what is sent in between would be lost, so the caller repeats it when
     * `changed` says "live".
     * @param {number} op
     * @param {Payload} d
     */
    command: (op, d) => void (life.name === "live" && send(op, d)),
    stop() {
      controller.abort();
      clearTimeout(timer);
      leave();
    },
  };
}

/** Of the flags in Identify: this client knows threads. */
const THREADS = 1 << 2;

function properties() {
  const { userAgent, maxTouchPoints } = navigator;
  return { os: platformOf(userAgent), browser: "Chat", device: "", mobile: maxTouchPoints > 0 && innerWidth < 700 };
}

/** @param {string} userAgent */
function platformOf(userAgent) {
  const named = /Android|iPhone|iPad|Windows|Mac OS|CrOS|Linux/.exec(userAgent);
  return named?.[0] ?? "unknown";
}
