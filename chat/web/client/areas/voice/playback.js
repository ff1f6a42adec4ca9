// What the others say, played: each track by an element of its own; louder than it comes by way of an amplifier.

import { keptDevices, VOLUME, watchDevices } from "../../base/devices.js";

/** @typedef {import("./room.js").Received} Received */
/** @typedef {{element: HTMLAudioElement, stream: MediaStream, userId: string, gain: GainNode | null}} Sound */

/** @param {() => void} refused The browser plays nothing before the person has pressed something. */
export function makePlayback(refused) {
  /** @type {Map<string, Sound>} by the track's sid */
  const sounds = new Map();
  /** @type {AudioContext | null} made when somebody is to be louder than they come */
  let amplifier = null;
  let isDeaf = false;

  /** @param {Received} received @returns {Sound} */
  function play({ track, userId }) {
    const stream = new MediaStream([track]);
    const element = new Audio();
    element.srcObject = stream;
    const sound = { element, stream, userId, gain: null };
    tune(sound);
    void send(element);
    start(element);
    return sound;
  }

  /** @param {HTMLAudioElement} element */
  function start(element) {
    element.play().catch((error) => error.name === "NotAllowedError" && refused());
  }

  /** @param {HTMLAudioElement} element To the loudspeaker that was chosen; where browsers let a page choose. */
  async function send(element) {
    const { speaker } = keptDevices();
    if ("setSinkId" in element) await element.setSinkId(speaker).catch(() => {});
  }

  /** @param {Sound} sound */
  function tune(sound) {
    const volume = (keptDevices().volumes[sound.userId] ?? VOLUME.usual) / 100;
    if (volume > 1) {
      sound.gain ??= amplified(sound.stream);
    } else if (sound.gain) {
      sound.gain.disconnect();
      sound.gain = null;
    }
    // What goes through the amplifier is heard from there.
    sound.element.muted = isDeaf || sound.gain !== null;
    sound.element.volume = Math.min(1, volume);
    if (sound.gain) sound.gain.gain.value = isDeaf ? 0 : volume;
  }

  /** @param {MediaStream} stream */
  function amplified(stream) {
    amplifier ??= new AudioContext();
    const gain = amplifier.createGain();
    amplifier.createMediaStreamSource(stream).connect(gain).connect(amplifier.destination);
    return gain;
  }

  const unwatch = watchDevices((changed) => {
    for (const sound of sounds.values()) {
      if (changed.includes("volumes")) tune(sound);
      if (changed.includes("speaker")) void send(sound.element);
    }
  });

  /** @param {string} sid */
  function end(sid) {
    const sound = sounds.get(sid);
    sounds.delete(sid);
    if (!sound) return;
    sound.gain?.disconnect();
    sound.element.srcObject = null;
  }

  return {
    /** @param {Received[]} received All that there is: what is not among it any more ends. */
    show(received) {
      const heard = received.filter(({ track }) => track.kind === "audio");
      const there = new Map(heard.map((one) => [one.sid, one]));
      for (const [sid, { stream }] of sounds) {
        if (there.get(sid)?.track !== stream.getAudioTracks()[0]) end(sid);
      }
      for (const [sid, one] of there) if (!sounds.has(sid)) sounds.set(sid, play(one));
    },
    /** @param {boolean} deaf */
    deafen(deaf) {
      isDeaf = deaf;
      for (const sound of sounds.values()) tune(sound);
    },
    /** The person has pressed something: now the browser plays. */
    resume() {
      void amplifier?.resume();
      for (const { element } of sounds.values()) start(element);
    },
    stop() {
      unwatch();
      for (const sid of [...sounds.keys()]) end(sid);
      void amplifier?.close();
    },
  };
}
