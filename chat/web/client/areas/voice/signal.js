// The signalling of LiveKit's protocol in its JSON form: one WebSocket to the media server, over which both sides agree
// on what is sent where.

/** @typedef {import("../../store/shapes.js").Payload} Payload */
/** @typedef {"refused" | "unreachable" | "lost"} Ended Why the socket is closed without a goodbye. */

const PING_MS = 10_000;
/** The server answers pings at once; a socket that is silent for longer carries nothing any more. */
const SILENT_MS = 25_000;
const PROTOCOL = "15";

/**
 * The media server is part of the server that this page came from, and is found where the page was: the reader may have
 * come by another address than the one that the server knows of itself.
 * @param {object} parts
 * @param {string} parts.token
 * @param {(kind: string, message: Payload) => void} parts.hear
 * @param {(why: Ended) => void} parts.ended
 */
export function makeSignal({ token, hear, ended }) {
  const query = new URLSearchParams({ access_token: token, protocol: PROTOCOL, auto_subscribe: "1", form: "json" });
  const address = `${location.origin.replace(/^http/, "ws")}/rtc`;
  const socket = new WebSocket(`${address}?${query}`);
  let isOpen = false;
  let isOver = false;
  let heardAt = 0;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  let timer;

  function stop() {
    isOver = true;
    clearInterval(timer);
    socket.close();
  }

  async function closed() {
    if (isOver) return;
    stop();
    ended(isOpen ? "lost" : await whyNot());
  }

  /** A WebSocket that does not open says nothing of the cause. @returns {Promise<Ended>} */
  async function whyNot() {
    try {
      const { status } = await fetch(`/rtc/validate?${query}`);
      return status === 401 ? "refused" : "unreachable";
    } catch {
      return "unreachable";
    }
  }

  /** @param {Payload} message */
  function send(message) {
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
  }

  function beat() {
    if (Date.now() - heardAt > SILENT_MS) return void closed();
    return send({ pingReq: { timestamp: `${Date.now()}` } });
  }

  socket.addEventListener("open", () => {
    isOpen = true;
    heardAt = Date.now();
    timer = setInterval(beat, PING_MS);
  });
  socket.addEventListener("message", ({ data }) => {
    heardAt = Date.now();
    if (isOver || typeof data !== "string") return;
    for (const [kind, message] of Object.entries(JSON.parse(data))) hear(kind, message);
  });
  socket.addEventListener("close", () => void closed());
  return { send, stop };
}
