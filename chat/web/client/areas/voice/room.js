// A room of the media server as this browser is in it: who is there, what they send, what this browser sends. It lasts
// until it is left or breaks; whoever wants to be there again enters a new one.

import { makePublisher } from "./publisher.js";
import { makeSignal } from "./signal.js";

/** @typedef {import("../../store/shapes.js").Payload} Payload */
/** @typedef {import("./publisher.js").Source} Source */
/** @typedef {"refused" | "unreachable" | "lost" | "no_media" | "told"} Ended `told`: the server said goodbye. */
/**
 * @typedef {object} Received What somebody else sends.
 * @property {string} sid
 * @property {string} userId
 * @property {string} connectionId
 * @property {Source} source
 * @property {MediaStreamTrack} track
 */
/** @typedef {{sid: string, userId: string, connectionId: string, tracks: Map<string, Source>}} Participant */
/** @typedef {{roundTrip: number | null, lost: number}} Health Milliseconds, and the share of packets that were lost. */
/**
 * @typedef {object} Parts
 * @property {string} token
 * @property {() => void} changed What is received changed.
 * @property {(sources: Set<Source>) => void} permitted What this browser may send.
 * @property {(levels: Map<string, number>) => void} spoke Loudness by account; 0: it has stopped.
 * @property {(token: string) => void} renewed
 * @property {(why: Ended) => void} ended
 * @property {AbortSignal} wanted Aborted when nobody wants to be there any more.
 */
/** @typedef {Awaited<ReturnType<typeof enterRoom>>} Room */

/** From the first word to the first packet. */
const CONNECT_MS = 15_000;
/** A network that changes is quiet for a moment. */
const BROKEN_MS = 5000;
const IDENTITY = /^user_(\d+)_(.+)$/;

/**
 * Enter; resolves when sound can flow. Rejects with the reason (`Ended`).
 * @param {Parts} parts
 */
export async function enterRoom({ token, changed, permitted, spoke, renewed, ended, wanted }) {
  /** @type {Map<string, Participant>} by sid */
  const people = new Map();
  /** @type {Map<string, MediaStreamTrack>} by the track's sid */
  let receiving = new Map();
  /** @type {{publisher: RTCPeerConnection, subscriber: RTCPeerConnection} | null} */
  let peers = null;
  /** @type {ReturnType<typeof makePublisher> | null} */
  let publisher = null;
  let me = "";
  let isOver = false;
  let isIn = false;
  /** One message after the other: descriptions do not wait for each other by themselves. */
  let turn = Promise.resolve();
  /** @type {{resolve: () => void, reject: (why: Ended) => void}} */
  let entering = { resolve: () => {}, reject: () => {} };
  /** @type {Promise<void>} */
  const entered = new Promise((resolve, reject) => {
    entering = { resolve, reject };
  });
  const patience = setTimeout(() => finish("no_media"), CONNECT_MS);

  const hearing = (/** @type {string} */ kind, /** @type {Payload} */ message) => {
    // A goodbye does not wait behind descriptions: the socket closes right after it, which else looks like a loss.
    if (kind === "leave") return finish(message["canReconnect"] ? "lost" : "told");
    turn = turn
      .then(async () => {
        if (!isOver) await HEARD[kind]?.(message);
      })
      .catch(() => finish("lost"));
    return undefined;
  };
  const signal = makeSignal({ token, hear: hearing, ended: finish });
  wanted.addEventListener("abort", leave);

  /** @param {Ended} why */
  function finish(why) {
    if (isOver) return;
    isOver = true;
    clearTimeout(patience);
    wanted.removeEventListener("abort", leave);
    signal.stop();
    peers?.publisher.close();
    peers?.subscriber.close();
    receiving = new Map();
    if (isIn) ended(why);
    else entering.reject(why);
  }

  /** Nobody hears that it has ended. */
  function leave() {
    signal.send({ leave: {} });
    isIn = false;
    finish("told");
  }

  /** @param {Payload} join */
  function begin(join) {
    const iceServers = (join["iceServers"] ?? []).map((/** @type {Payload} */ { urls, username, credential }) => ({
      urls,
      ...(username ? { username, credential } : {}),
    }));
    peers = { publisher: new RTCPeerConnection({ iceServers }), subscriber: new RTCPeerConnection({ iceServers }) };
    for (const [name, peer] of Object.entries(peers)) watch(peer, name === "publisher" ? "PUBLISHER" : "SUBSCRIBER");
    publisher = makePublisher(peers.publisher, signal.send);
    me = join["participant"].sid;
    for (const info of [join["participant"], ...(join["otherParticipants"] ?? [])]) put(info);
    return publisher.offer();
  }

  /** @param {RTCPeerConnection} peer @param {string} target */
  function watch(peer, target) {
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let breaking;
    peer.addEventListener("icecandidate", ({ candidate }) => {
      if (candidate) signal.send({ trickle: { candidateInit: JSON.stringify(candidate.toJSON()), target } });
    });
    peer.addEventListener("connectionstatechange", () => {
      const { connectionState: state } = peer;
      clearTimeout(breaking);
      if (state === "failed") finish(isIn ? "lost" : "no_media");
      else if (state === "disconnected") breaking = setTimeout(() => finish("lost"), BROKEN_MS);
      else if (state === "connected" && !isIn) {
        isIn = true;
        clearTimeout(patience);
        entering.resolve();
      }
    });
  }

  /** @param {Payload} info */
  function put({ sid, identity, state, tracks = [], permission }) {
    if (state === "DISCONNECTED") {
      const gone = people.get(sid);
      people.delete(sid);
      return gone && spoke(new Map([[gone.userId, 0]]));
    }
    const [, userId = "", connectionId = ""] = IDENTITY.exec(identity) ?? [];
    const sources = new Map(tracks.map((/** @type {Payload} */ one) => [one["sid"], one["source"]]));
    people.set(sid, { sid, userId, connectionId, tracks: sources });
    if (sid === me) permitted(new Set(permission?.canPublishSources ?? []));
    return undefined;
  }

  /** @param {Payload} offer */
  async function offered({ sdp, id, midToTrackId = {} }) {
    const peer = peers?.subscriber;
    if (!peer) return;
    await peer.setRemoteDescription({ type: "offer", sdp });
    const answer = await peer.createAnswer();
    await peer.setLocalDescription(answer);
    signal.send({ answer: { type: "answer", sdp: answer.sdp, id } });
    receiving = new Map();
    for (const { mid, receiver } of peer.getTransceivers()) {
      const sid = midToTrackId[mid ?? ""];
      if (sid) receiving.set(sid, receiver.track);
    }
    changed();
  }

  /** @type {Readonly<Record<string, (message: Payload) => unknown>>} by the kind of message */
  const HEARD = {
    join: begin,
    answer: (answer) => publisher?.answered(answer),
    offer: offered,
    trackPublished: ({ cid, track }) => publisher?.told(cid, track.sid),
    requestResponse: ({ addTrack }) => addTrack && publisher?.told(addTrack.cid, null),
    update({ participants = [] }) {
      for (const info of participants) put(info);
      changed();
    },
    speakersChanged({ speakers = [] }) {
      const levels = speakers.map((/** @type {Payload} */ { sid, level = 0, active }) => [
        people.get(sid)?.userId ?? "",
        active ? level : 0,
      ]);
      spoke(new Map(levels));
    },
    refreshToken: (token) => renewed(String(token)),
  };

  await entered;
  return {
    /** @param {MediaStreamTrack} track @param {Source} source @param {boolean} [isMuted] */
    publish(track, source, isMuted) {
      if (publisher === null) throw new Error("a room that was entered has both connections");
      return publisher.publish(track, source, isMuted);
    },
    /** @returns {Received[]} What the others send and this browser gets. */
    received() {
      return [...people.values()].flatMap(({ sid: owner, userId, connectionId, tracks }) =>
        [...tracks].flatMap(([sid, source]) => {
          const track = owner === me ? undefined : receiving.get(sid);
          return track ? [{ sid, userId, connectionId, source, track }] : [];
        }),
      );
    },
    health: () => healthOf(peers),
  };
}

/**
 * @param {{publisher: RTCPeerConnection, subscriber: RTCPeerConnection} | null} peers
 * @returns {Promise<Health>}
 */
async function healthOf(peers) {
  /** @type {number | null} */
  let roundTrip = null;
  let [lost, got] = [0, 0];
  for (const peer of peers ? [peers.publisher, peers.subscriber] : []) {
    for (const report of (await peer.getStats()).values()) {
      if (report.type === "candidate-pair" && report.nominated && report.currentRoundTripTime !== undefined)
        roundTrip = Math.round(report.currentRoundTripTime * 1000);
      if (report.type !== "inbound-rtp") continue;
      lost += report.packetsLost ?? 0;
      got += report.packetsReceived ?? 0;
    }
  }
  return { roundTrip, lost: lost + got === 0 ? 0 : Math.max(0, lost) / (lost + got) };
}
