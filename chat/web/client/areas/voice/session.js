// A person's stay in voice, from the press to the farewell: the voice state at the gateway, the room at the media
// server, and what becomes of both when the network breaks or a moderator acts.

import { pause } from "../../base/pause.js";
import { AWAY } from "../../views/shell/voice.js";
import { nameOfChannel } from "../../views/names/channels.js";
import { t } from "../../words/catalogue.js";
import { watchHealth } from "./health.js";
import { makeOwn } from "./own.js";
import { makePlayback } from "./playback.js";
import { tellOfPresence } from "./presence.js";
import { outOf, reasonOf } from "./reasons.js";
import { enterRoom } from "./room.js";

/** @typedef {import("../../views/shell/app.js").App} App */
/** @typedef {import("../../acts/voice.js").Room} Place */
/** @typedef {import("./room.js").Received} Received */
/** @typedef {ReturnType<typeof makeSession>} Session */
/**
 * @typedef {object} Stay
 * @property {Place} place
 * @property {AbortController} end
 * @property {string | null} connectionId
 * @property {string | null} token Opens the room.
 * @property {import("./room.js").Room | null} media
 * @property {number} attempts How often it was tried in vain to mend it.
 */

const OF_TWO = 1;
const ATTEMPTS = 12;
const DELAY_MS = 500;
const DELAY_MAXIMUM_MS = 8000;
/** A move comes as a departure first; and a farewell of the media server before the gateway says why. */
const SETTLE_MS = 1200;

/** @param {App} app */
export function makeSession(app) {
  const { store, acts, connection, voice } = app;
  /** @type {Stay | null} */
  let stay = null;
  /** @type {Set<() => void>} */
  const watchers = new Set();
  const playback = makePlayback(() => voice.put({ problem: t("voice.autoplay") }));
  const own = makeOwn(app, { told, changed: () => draw(), deafen: playback.deafen, isIn: () => stay !== null });
  const { sending } = own;
  const presence = tellOfPresence(app);

  const draw = () => watchers.forEach((run) => run());

  /** Tell the others what changed of our own voice state. */
  function told() {
    if (!stay?.connectionId || stay.media === null) return;
    acts.voice.change(stay.place, stay.connectionId, own.state()).catch(() => {});
  }

  /** @param {Stay} mine @param {string | null} from */
  async function place(mine, from) {
    const placed = await acts.voice.join(mine.place, own.state(), from);
    if (stay !== mine) return acts.voice.leave(mine.place.guildId, placed.connectionId);
    mine.connectionId = placed.connectionId;
    mine.token = placed.token;
    voice.put({ connectionId: placed.connectionId });
    return undefined;
  }

  /** @param {Stay} mine */
  async function enter(mine) {
    if (mine.token === null || stay !== mine) return;
    const media = await enterRoom({
      token: mine.token,
      changed: () => stay === mine && received(mine),
      permitted: (sources) => stay === mine && sending.permitted(sources),
      spoke,
      renewed(token) {
        mine.token = token;
      },
      ended: (why) => stay === mine && (why === "told" ? void farewell(mine) : void mend(mine)),
      wanted: mine.end.signal,
    });
    mine.media = media;
    mine.attempts = 0;
    voice.put({ phase: "live" });
    own.silence();
    await sending.attach(media);
    received(mine);
  }

  /** @param {Stay} mine */
  function received(mine) {
    playback.show(mine.media?.received() ?? []);
    draw();
  }

  /** @param {Map<string, number>} levels */
  function spoke(levels) {
    const speaking = new Set(voice.now.speaking);
    for (const [userId, level] of levels) {
      if (level > 0) speaking.add(userId);
      else speaking.delete(userId);
    }
    voice.put({ speaking });
  }

  /**
   * @param {Place} where
   * @param {string | null} [from] A connection that moves there.
   * @param {() => void} [placed] Run when the others see the person there.
   */
  async function begin(where, from = null, placed = () => {}) {
    stay?.end.abort();
    /** @type {Stay} */
    const mine = (stay = {
      place: where,
      end: new AbortController(),
      connectionId: from,
      token: null,
      media: null,
      attempts: 0,
    });
    void sending.attach(null);
    playback.show([]);
    const { isMuted, isDeaf, hasCamera, hasScreen } = voice.now;
    voice.put({ ...AWAY, ...where, isMuted, isDeaf, hasCamera, hasScreen, phase: "joining", connectionId: from });
    presence.begin(where);
    void sending.start("MICROPHONE");
    try {
      await place(mine, from);
      if (stay === mine) placed();
      await enter(mine);
    } catch (why) {
      if (stay === mine) fail(reasonOf(why, where.guildId === null));
    }
  }

  /** It did not come about: the bar says why. @param {string} problem */
  function fail(problem) {
    const where = stay?.place;
    leave();
    voice.put({ ...where, phase: "failed", problem });
  }

  /** The network broke, or the media server began anew: come back until it works. @param {Stay} mine */
  async function mend(mine) {
    voice.put({ phase: "again", speaking: new Set(), quality: null, roundTrip: null });
    mine.media = null;
    void sending.attach(null);
    playback.show([]);
    while (stay === mine && mine.media === null) {
      mine.attempts += 1;
      if (mine.attempts > ATTEMPTS) return fail(t("voice.lost"));
      await Promise.race([pause(Math.min(DELAY_MAXIMUM_MS, DELAY_MS * 2 ** mine.attempts)), online()]);
      if (stay !== mine || !store.read.session.live) continue;
      try {
        if (mine.connectionId === null && isOver(mine.place)) return sentAway(outOf(store.read, mine.place));
        if (mine.connectionId === null) await place(mine, null);
        await enter(mine);
      } catch (why) {
        // The connection is no longer there, or its token is too old.
        if (why === "refused") mine.connectionId = null;
        else if (why instanceof Error && "code" in why && why.code !== "silent")
          return sentAway(reasonOf(why, mine.place.guildId === null));
      }
    }
    return undefined;
  }

  /** The server has sent us away: why, and whether to somewhere else, comes by the gateway. @param {Stay} mine */
  async function farewell(mine) {
    mine.media = null;
    await pause(SETTLE_MS);
    if (stay === mine && mine.media === null) sentAway(outOf(store.read, mine.place));
  }

  /** @param {string} words Why the person is in voice no longer. */
  function sentAway(words) {
    leave();
    app.layers.toast(words);
    app.announce(words);
  }

  function leave() {
    const gone = stay;
    stay = null;
    gone?.end.abort();
    if (gone?.connectionId) acts.voice.leave(gone.place.guildId, gone.connectionId);
    for (const kind of /** @type {const} */ (["MICROPHONE", "CAMERA", "SCREEN_SHARE"])) sending.stop(kind);
    void sending.attach(null);
    playback.show([]);
    presence.end();
    const { isMuted, isDeaf } = voice.now;
    voice.put({ ...AWAY, isMuted, isDeaf });
    draw();
  }

  connection.hear((name, data) => {
    const mine = stay;
    if (mine === null) return;
    if (name === "READY") return void renewed(mine);
    if (name === "VOICE_SERVER_UPDATE") return void server(mine, data);
    if (name !== "VOICE_STATE_UPDATE") return;
    presence.look();
    if (data["connection_id"] === mine.connectionId && data["channel_id"] === null && mine.media) void farewell(mine);
  });

  /** A new session: the connection ended with the one before. @param {Stay} mine */
  async function renewed(mine) {
    mine.connectionId = null;
    if (mine.media === null) return;
    // Of calls it hears after Ready.
    if (mine.place.guildId === null) await pause(SETTLE_MS);
    if (stay !== mine || mine.media === null) return;
    if (isOver(mine.place)) sentAway(outOf(store.read, mine.place));
    else void begin(mine.place);
  }

  /** A call that ended meanwhile is not begun anew. @param {Place} where */
  function isOver({ guildId, channelId }) {
    return guildId === null && !store.read.calls.has(channelId);
  }

  /** @param {Stay} mine @param {import("../../store/shapes.js").Payload} data */
  function server(mine, data) {
    const { connection_id: id, channel_id: channelId, guild_id: guildId = null, token } = data;
    if (mine.connectionId === null) return;
    if (id !== mine.connectionId) {
      // Another tab of this browser has joined.
      leave();
      app.layers.toast(t("voice.other_tab"));
    } else if (channelId !== mine.place.channelId) void moved(mine, { guildId, channelId }, token);
  }

  /** @param {Stay} mine @param {Place} where @param {string} token */
  async function moved(mine, where, token) {
    mine.end.abort();
    /** @type {Stay} */
    const next = (stay = { ...mine, place: where, end: new AbortController(), token, media: null, attempts: 0 });
    void sending.attach(null);
    playback.show([]);
    voice.put({ ...where, phase: "joining", speaking: new Set() });
    presence.begin(where);
    const channel = store.read.channels.get(where.channelId);
    const words = t("voice.moved", { name: channel ? nameOfChannel(store.read, channel) : "" });
    app.layers.toast(words);
    app.announce(words);
    try {
      await enter(next);
    } catch {
      if (stay === next) void mend(next);
    }
  }

  watchHealth(voice, () => stay?.media ?? null);
  window.addEventListener("pagehide", () => {
    if (stay?.connectionId) acts.voice.leave(stay.place.guildId, stay.connectionId);
  });

  return {
    /** @param {Place} where @param {() => void} [placed] Run when the others see the person there. */
    join(where, placed) {
      const here = stay?.place;
      if (here?.channelId === where.channelId) return placed?.();
      const isNear = where.guildId !== null && here?.guildId === where.guildId;
      const from = isNear ? (stay?.connectionId ?? null) : null;
      if (!isNear) leave();
      return void begin(where, from, placed);
    },
    /** Leave by one's own hand: a call between two is over with it, as on the telephone. */
    leave() {
      const [place, id] = [stay?.place, stay?.connectionId];
      const { me } = store.read.session;
      const states = [...(store.read.voice.get(place?.channelId ?? "")?.entries() ?? [])];
      const isElsewhere = states.some(([key, one]) => one["user_id"] === me && key !== id);
      leave();
      if (!place || isElsewhere || store.read.channels.get(place.channelId)?.type !== OF_TWO) return;
      acts.calls.end(place.channelId).catch(() => {});
    },
    /** Try once more what failed. */
    again() {
      const { guildId, channelId } = voice.now;
      if (channelId !== null) void begin({ guildId, channelId });
    },
    own,
    /** @returns {Received[]} */
    received: () => stay?.media?.received() ?? [],
    /** The person has pressed something: what the browser did not play is played, and what did not open is tried. */
    resume() {
      voice.put({ problem: null });
      playback.resume();
      void sending.start("MICROPHONE");
    },
    /** @param {() => void} run Run when what is shown may have changed. */
    watch: (run) => (watchers.add(run), () => void watchers.delete(run)),
  };
}

/** Resolves when the browser says that there is a network again. @returns {Promise<void>} */
function online() {
  return new Promise((resolve) => window.addEventListener("online", () => resolve(), { once: true }));
}
