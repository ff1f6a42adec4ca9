// The connection on which this browser sends: it announces a track, offers it, and takes the server's answer.

/** @typedef {import("../../store/shapes.js").Payload} Payload */
/** @typedef {"MICROPHONE" | "CAMERA" | "SCREEN_SHARE" | "SCREEN_SHARE_AUDIO"} Source */
/**
 * @typedef {object} Published
 * @property {(track: MediaStreamTrack) => Promise<void>} replace Send another track in its place.
 * @property {(isMuted: boolean) => void} mute
 * @property {() => void} stop
 */

const ANSWER_MS = 10_000;
/** @type {Readonly<Record<Source, number | null>>} Bits per second at most; the server bounds voices by the channel. */
const BITS = { MICROPHONE: null, CAMERA: 900_000, SCREEN_SHARE: 2_500_000, SCREEN_SHARE_AUDIO: 128_000 };

/** The server does not take the track. */
export class NotTaken extends Error {}

/**
 * @param {RTCPeerConnection} peer
 * @param {(message: Payload) => void} send
 */
export function makePublisher(peer, send) {
  /** @type {Map<string, {resolve: (sid: string) => void, reject: (error: Error) => void}>} by the track's own id */
  const announced = new Map();
  let offers = 0;
  let awaitsAnswer = false;
  let isStale = false;
  // A connection that sends nothing yet is one all the same: the server knows by it that somebody is there.
  peer.createDataChannel("_reliable", { ordered: true });

  async function offer() {
    if (peer.signalingState === "closed") return;
    if (awaitsAnswer) {
      isStale = true;
      return;
    }
    awaitsAnswer = true;
    const description = await peer.createOffer();
    await peer.setLocalDescription(description);
    offers += 1;
    send({ offer: { type: "offer", sdp: description.sdp, id: offers } });
  }

  /**
   * @param {MediaStreamTrack} track
   * @param {Source} source
   * @param {boolean} isMuted
   * @returns {Promise<Published>} Rejects with NotTaken.
   */
  async function publish(track, source, isMuted = false) {
    const { width = 0, height = 0 } = track.getSettings();
    const type = track.kind === "video" ? "VIDEO" : "AUDIO";
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    /** @type {Promise<string>} */
    const taken = new Promise((resolve, reject) => {
      announced.set(track.id, { resolve, reject });
      timer = setTimeout(() => reject(new NotTaken(source)), ANSWER_MS);
    });
    const named = { cid: track.id, name: source.toLowerCase(), type, source, muted: isMuted };
    send({ addTrack: type === "VIDEO" ? { ...named, width, height } : named });
    const sid = await taken.finally(() => (clearTimeout(timer), announced.delete(track.id)));
    const maxBitrate = BITS[source];
    const transceiver = peer.addTransceiver(track, {
      direction: "sendonly",
      streams: [new MediaStream([track])],
      ...(maxBitrate === null ? {} : { sendEncodings: [{ maxBitrate }] }),
    });
    void offer();
    return {
      replace: (next) => transceiver.sender.replaceTrack(next),
      mute: (muted) => send({ mute: { sid, muted } }),
      stop() {
        if (peer.signalingState === "closed") return;
        transceiver.stop();
        void offer();
      },
    };
  }

  return {
    offer,
    publish,
    /** @param {Payload} answer */
    async answered({ sdp, id }) {
      if (id !== undefined && Number(id) !== offers) return;
      await peer.setRemoteDescription({ type: "answer", sdp });
      awaitsAnswer = false;
      if (!isStale) return;
      isStale = false;
      await offer();
    },
    /** The server's answer to an announcement. @param {string} cid @param {string | null} sid None: it refuses. */
    told(cid, sid) {
      const asked = announced.get(cid);
      if (sid === null) asked?.reject(new NotTaken(cid));
      else asked?.resolve(sid);
    },
  };
}
