// The life of a connection to the gateway: what comes in, and what is to be done about it. Nothing here waits or sends:
// `dueOf` says when a tick is wanted, and effects say what the socket does.

/** @typedef {import("../store/shapes.js").Payload} Payload */
/** @typedef {"connecting" | "identifying" | "resuming" | "live" | "waiting" | "offline" | "ended"} Name */
/**
 * @typedef {object} Life
 * @property {Name} name
 * @property {number} since Since when it is so (Unix milliseconds).
 * @property {number | null} until When it ends by itself: a delay, a deadline, the next attempt to identify.
 * @property {number} attempt How many connections have failed in a row.
 * @property {string | null} session
 * @property {number} seq The last dispatch that was taken.
 * @property {number} interval Of the heartbeat, in milliseconds; 0 before Hello.
 * @property {number} beatAt When the next heartbeat is sent.
 * @property {number | null} askedAt When the heartbeat was sent that is not answered yet.
 * @property {boolean} isOnline What the browser says of the network.
 * @property {number} heardAt When the server was last heard.
 */
/**
 * @typedef {{type: "start" | "tick" | "online" | "offline" | "visible" | "retry"}
 *   | {type: "closed", code: number} | {type: "payload", payload: Payload}} Input
 */
/**
 * @typedef {{type: "connect" | "disconnect" | "identify" | "resume" | "heartbeat" | "reload" | "sign_in"}
 *   | {type: "dispatch", name: string, data: Payload, seq: number}} Effect
 */
/** @typedef {{life: Life, effects: Effect[]}} Step */
/** @typedef {{now: number, random: number}} Chance `random` from 0 to below 1. */

export const CONNECT_MS = 10_000;
export const ACKNOWLEDGE_MS = 10_000;
export const DELAY_MS = 500;
export const DELAY_MAXIMUM_MS = 30_000;
export const LASTING_MS = 30_000;
/** When somebody looks at the page again, a connection that was silent for this long is asked for a sign of life. */
export const QUIET_MS = 20_000;

const OPCODES = { dispatch: 0, heartbeat: 1, reconnect: 7, invalidSession: 9, hello: 10, acknowledged: 11 };
const CLOSES = { authentication: 4004, sequence: 4007, limited: 4008, version: 4012 };

/** @returns {Life} */
export function beginning() {
  return {
    name: "offline",
    since: 0,
    until: null,
    attempt: 0,
    session: null,
    seq: 0,
    interval: 0,
    beatAt: 0,
    askedAt: null,
    isOnline: true,
    heardAt: 0,
  };
}

/**
 * @param {Life} life
 * @param {Input} input
 * @param {Chance} chance
 * @returns {Step}
 */
export function step(life, input, chance) {
  if (life.name === "ended") return { life, effects: [] };
  switch (input.type) {
    case "payload":
      return heard({ ...life, heardAt: chance.now }, input.payload, chance);
    case "closed":
      return closed(life, input.code, chance);
    case "tick":
      return ticked(life, chance);
    case "online":
    case "offline":
      return network({ ...life, isOnline: input.type === "online" }, chance);
    case "visible":
      return looked(life, chance);
    case "start":
    case "retry":
      return isApart(life) ? connect(life, chance) : same(life);
  }
}

/**
 * When a tick is wanted: with a heartbeat there is always a time at which it has to be sent, or answered.
 * @param {Life} life
 * @returns {number | null}
 */
export function dueOf({ interval, askedAt, beatAt, until }) {
  if (interval === 0) return until;
  return Math.min(askedAt === null ? beatAt : askedAt + ACKNOWLEDGE_MS, until ?? Infinity);
}

/** @param {Life} life */
export function isApart(life) {
  return life.name === "waiting" || life.name === "offline";
}

/**
 * @param {Life} life
 * @param {Payload} payload
 * @param {Chance} chance
 * @returns {Step}
 */
function heard(life, payload, chance) {
  if (isApart(life)) return same(life);
  switch (payload.op) {
    case OPCODES.hello: {
      const next = begun(life, payload.d.heartbeat_interval, chance);
      return life.session === null ? identify(next, chance) : moved(next, "resuming", null, chance, { type: "resume" });
    }
    case OPCODES.dispatch:
      return dispatched(life, payload, chance);
    case OPCODES.heartbeat:
      return beat(life, chance);
    case OPCODES.acknowledged:
      return same({ ...life, askedAt: null });
    case OPCODES.reconnect:
      return wait(life, DELAY_MS * chance.random, chance);
    case OPCODES.invalidSession:
      return refused(life, chance);
    default:
      return same(life);
  }
}

/**
 * @param {Life} life
 * @param {number} interval
 * @param {Chance} chance
 */
function begun(life, interval, { now, random }) {
  return { ...life, interval, beatAt: now + interval * random, askedAt: null };
}

/**
 * @param {Life} life
 * @param {Payload} payload
 * @param {Chance} chance
 * @returns {Step}
 */
function dispatched(life, { t: name, d: data, s }, chance) {
  // A replay after a reconnect may begin with what was taken already.
  if (name !== "READY" && name !== "RESUMED" && s <= life.seq) return same(life);
  const next = { ...life, seq: name === "READY" ? s : Math.max(life.seq, s) };
  /** @type {Effect} */
  const effect = { type: "dispatch", name, data, seq: s };
  if (name === "READY") return moved({ ...next, session: data.session_id }, "live", null, chance, effect);
  if (name === "RESUMED") return moved(next, "live", null, chance, effect);
  return { life: next, effects: [effect] };
}

/**
 * The session is gone. Asking for another at once is fair once; a server that refuses that too is given a rest.
 * @param {Life} life
 * @param {Chance} chance
 * @returns {Step}
 */
function refused(life, chance) {
  const next = { ...life, session: null, seq: 0 };
  if (life.name !== "identifying") return identify(next, chance);
  return same({ ...next, until: chance.now + 1000 + 4000 * chance.random });
}

/**
 * @param {Life} life
 * @param {Chance} chance
 */
function identify(life, chance) {
  return moved(life, "identifying", null, chance, { type: "identify" });
}

/**
 * @param {Life} life
 * @param {number} code
 * @param {Chance} chance
 * @returns {Step}
 */
function closed(life, code, chance) {
  if (isApart(life)) return same(life);
  if (code === CLOSES.authentication) return moved(life, "ended", null, chance, { type: "sign_in" });
  if (code === CLOSES.version) return moved(life, "ended", null, chance, { type: "reload" });
  const kept = code === CLOSES.sequence ? { ...life, session: null, seq: 0 } : life;
  if (code === CLOSES.limited) return wait(kept, DELAY_MAXIMUM_MS * (1 + chance.random), chance);
  return wait(kept, delayOf(kept, chance), chance);
}

/**
 * @param {Life} life
 * @param {Chance} chance
 */
function delayOf(life, { now, random }) {
  const attempt = life.name === "live" && now - life.since >= LASTING_MS ? 0 : life.attempt;
  return Math.min(DELAY_MAXIMUM_MS, DELAY_MS * 2 ** attempt) * random;
}

/**
 * @param {Life} life
 * @param {Chance} chance
 * @returns {Step}
 */
function ticked(life, chance) {
  const { now } = chance;
  if (life.askedAt !== null && now >= life.askedAt + ACKNOWLEDGE_MS) return wait(life, delayOf(life, chance), chance);
  if (life.until !== null && now >= life.until) {
    if (life.name === "waiting") return connect(life, chance);
    return life.name === "identifying" ? identify(life, chance) : wait(life, delayOf(life, chance), chance);
  }
  return life.interval > 0 && life.askedAt === null && now >= life.beatAt ? beat(life, chance) : same(life);
}

/**
 * @param {Life} life
 * @param {Chance} chance
 * @returns {Step}
 */
function network(life, chance) {
  if (life.isOnline) return isApart(life) ? connect(life, chance) : same(life);
  if (life.name === "waiting") return moved(life, "offline", null, chance);
  // A server on this very machine answers without a network: what is connected asks before it believes.
  return life.name === "live" && life.askedAt === null ? beat(life, chance) : same(life);
}

/**
 * @param {Life} life
 * @param {Chance} chance
 * @returns {Step}
 */
function looked(life, chance) {
  if (life.name === "waiting") return connect(life, chance);
  const isQuiet = life.name === "live" && life.askedAt === null && chance.now - life.heardAt > QUIET_MS;
  return isQuiet ? beat(life, chance) : same(life);
}

/**
 * @param {Life} life
 * @param {Chance} chance
 * @returns {Step}
 */
function beat(life, { now }) {
  const next = { ...life, askedAt: life.askedAt ?? now, beatAt: now + life.interval };
  return { life: next, effects: [{ type: "heartbeat" }] };
}

/**
 * @param {Life} life
 * @param {Chance} chance
 * @returns {Step}
 */
function connect(life, chance) {
  const fresh = { ...life, interval: 0, askedAt: null };
  return moved(fresh, "connecting", chance.now + CONNECT_MS, chance, { type: "connect" });
}

/**
 * Leaves the socket, if there is one, and comes back after a time; without a network, when there is one.
 * @param {Life} life
 * @param {number} delay
 * @param {Chance} chance
 * @returns {Step}
 */
function wait(life, delay, chance) {
  const lasted = life.name === "live" && chance.now - life.since >= LASTING_MS;
  const next = { ...life, attempt: lasted ? 1 : life.attempt + 1, interval: 0, askedAt: null };
  const name = life.isOnline ? "waiting" : "offline";
  return moved(next, name, life.isOnline ? chance.now + delay : null, chance, { type: "disconnect" });
}

/**
 * @param {Life} life
 * @param {Name} name
 * @param {number | null} until
 * @param {Chance} chance
 * @param {Effect} [effect]
 * @returns {Step}
 */
function moved(life, name, until, { now }, effect) {
  return { life: { ...life, name, since: now, until }, effects: effect ? [effect] : [] };
}

/**
 * @param {Life} life
 * @returns {Step}
 */
function same(life) {
  return { life, effects: [] };
}
