// How good the connection to the media server is, looked at every few seconds.

/** @typedef {import("../../views/shell/voice.js").Voice} Voice */

const LOOK_MS = 3000;
/** Above these the connection is fair, and poor: milliseconds there and back, and the share of packets that is lost. */
const FAIR = { roundTrip: 150, lost: 0.02 };
const POOR = { roundTrip: 400, lost: 0.08 };

/**
 * @param {Voice} voice
 * @param {() => import("./room.js").Room | null} room Where the person is.
 */
export function watchHealth(voice, room) {
  async function look() {
    const media = room();
    if (media === null) return;
    const { roundTrip, lost } = await media.health();
    const isOver = (/** @type {typeof FAIR} */ bound) => (roundTrip ?? 0) > bound.roundTrip || lost > bound.lost;
    if (room() !== media) return;
    voice.put({ roundTrip, quality: isOver(POOR) ? "poor" : isOver(FAIR) ? "fair" : "good" });
  }

  setInterval(() => void look(), LOOK_MS);
}
