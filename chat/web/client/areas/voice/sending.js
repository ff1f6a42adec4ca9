// What this person sends: the microphone, the camera, a screen with its sound. It outlives rooms: when a connection is
// mended, or the person is moved, the same devices go on.

import { close, NoDevice, openCamera, openMicrophone, openScreen, watchDevices } from "../../base/devices.js";
import { NotTaken } from "./publisher.js";

/** @typedef {import("./publisher.js").Published} Published */
/** @typedef {import("./publisher.js").Source} Source */
/** @typedef {import("./room.js").Room} Room */
/** @typedef {import("../../base/devices.js").Hindrance} Hindrance */
/** @typedef {"MICROPHONE" | "CAMERA" | "SCREEN_SHARE"} Kind What is opened; a screen may bring its sound. */
/** @typedef {Hindrance | "not_taken"} Trouble */

/** @type {Readonly<Record<Kind, () => Promise<MediaStream>>>} */
const OPENS = { MICROPHONE: openMicrophone, CAMERA: openCamera, SCREEN_SHARE: openScreen };

/**
 * @param {object} parts
 * @param {() => void} parts.changed A device was opened, or has ended.
 * @param {(kind: Kind, why: Trouble) => void} parts.failed
 */
export function makeSending({ changed, failed }) {
  /** @type {Map<Kind, MediaStream>} */
  const open = new Map();
  /** @type {Map<Source, Published>} */
  const published = new Map();
  /** @type {Set<Source>} what is being announced */
  let announcing = new Set();
  /** @type {Set<Kind>} what the browser is being asked for */
  const asking = new Set();
  /** @type {ReadonlySet<Source>} */
  let may = new Set();
  /** @type {Room | null} */
  let room = null;
  let isSilent = false;

  /** @returns {[Source, MediaStreamTrack][]} */
  function tracks() {
    return [...open].flatMap(([kind, stream]) =>
      stream.getTracks().map((track) => {
        const isSound = kind === "SCREEN_SHARE" && track.kind === "audio";
        return /** @type {[Source, MediaStreamTrack]} */ ([isSound ? "SCREEN_SHARE_AUDIO" : kind, track]);
      }),
    );
  }

  /** Everything that is open, may be sent, and is not sent yet. */
  async function publish() {
    const [to, under] = [room, announcing];
    for (const [source, track] of tracks()) {
      if (!to || room !== to || !may.has(source) || published.has(source) || under.has(source)) continue;
      under.add(source);
      try {
        const one = await to.publish(track, source, source === "MICROPHONE" && isSilent);
        if (room === to && open.size > 0 && track.readyState === "live") published.set(source, one);
        else one.stop();
      } catch (error) {
        if (!(error instanceof NotTaken)) throw error;
        if (room === to) failed(source === "SCREEN_SHARE_AUDIO" ? "SCREEN_SHARE" : source, "not_taken");
      } finally {
        under.delete(source);
      }
    }
  }

  function silence() {
    for (const track of open.get("MICROPHONE")?.getAudioTracks() ?? []) track.enabled = !isSilent;
  }

  /** @param {Kind} kind @param {MediaStream} stream */
  function hold(kind, stream) {
    open.set(kind, stream);
    // A device that is unplugged ends by itself, as a screen does that the browser's own button stops sharing.
    for (const track of stream.getTracks()) track.addEventListener("ended", () => ended(kind, stream, track));
  }

  /** @param {Kind} kind */
  async function start(kind) {
    if (open.has(kind) || asking.has(kind)) return;
    asking.add(kind);
    try {
      const stream = await OPENS[kind]();
      if (!asking.has(kind)) return close(stream);
      hold(kind, stream);
      if (kind === "MICROPHONE") silence();
      changed();
      await publish();
    } catch (error) {
      if (!(error instanceof NoDevice)) throw error;
      if (asking.has(kind)) failed(kind, error.hindrance);
    } finally {
      asking.delete(kind);
    }
  }

  /** @param {Kind} kind @param {MediaStream} stream @param {MediaStreamTrack} track */
  function ended(kind, stream, track) {
    if (open.get(kind) !== stream || (kind === "SCREEN_SHARE" && track.kind === "audio")) return;
    stop(kind);
    if (kind !== "SCREEN_SHARE") failed(kind, "missing");
  }

  /** @param {Kind} kind */
  function stop(kind) {
    asking.delete(kind);
    if (!open.has(kind)) return;
    close(open.get(kind));
    open.delete(kind);
    /** @type {Source[]} */
    const sources = kind === "SCREEN_SHARE" ? ["SCREEN_SHARE", "SCREEN_SHARE_AUDIO"] : [kind];
    for (const source of sources) {
      published.get(source)?.stop();
      published.delete(source);
    }
    changed();
  }

  /** Another microphone or camera was chosen: it takes the place of the one before, for the others without a gap. */
  async function exchange(/** @type {"MICROPHONE" | "CAMERA"} */ kind) {
    const before = open.get(kind);
    if (!before) return;
    try {
      const stream = await OPENS[kind]();
      const [track] = stream.getTracks();
      if (open.get(kind) !== before || !track) return close(stream);
      hold(kind, stream);
      close(before);
      silence();
      await published.get(kind)?.replace(track);
      changed();
    } catch (error) {
      if (!(error instanceof NoDevice)) throw error;
      failed(kind, error.hindrance);
    }
  }

  const unwatch = watchDevices((keys) => {
    if (keys.some((key) => ["microphone", "echo", "noise", "gain"].includes(key))) void exchange("MICROPHONE");
    if (keys.includes("camera")) void exchange("CAMERA");
  });

  return {
    start,
    stop,
    /** @param {Kind} kind */
    has: (kind) => open.has(kind),
    /** The person's own picture. @param {"CAMERA" | "SCREEN_SHARE"} kind */
    picture: (kind) => open.get(kind)?.getVideoTracks()[0] ?? null,
    /** @param {boolean} silent Whether nothing of the microphone is to be heard. */
    silence(silent) {
      if (isSilent === silent) return;
      isSilent = silent;
      silence();
      published.get("MICROPHONE")?.mute(silent);
    },
    /** @param {Room | null} next Where it goes from now on. */
    attach(next) {
      room = next;
      published.clear();
      announcing = new Set();
      return publish();
    },
    /** @param {ReadonlySet<Source>} sources */
    permitted(sources) {
      may = sources;
      void publish();
    },
    end() {
      unwatch();
      room = null;
      for (const kind of /** @type {Kind[]} */ (["MICROPHONE", "CAMERA", "SCREEN_SHARE"])) {
        asking.delete(kind);
        close(open.get(kind));
      }
      open.clear();
      published.clear();
    },
  };
}
