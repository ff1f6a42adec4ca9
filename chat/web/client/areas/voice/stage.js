// Everybody in the channel as tiles: a camera's picture or a face, and above them the screens that are shared.

import { fill, h } from "../../base/dom.js";
import { icon, iconButton } from "../../base/icon.js";
import { keyed } from "../../base/keyed.js";
import { compareIds } from "../../store/shapes.js";
import { avatarAddress, nameOf } from "../../views/names/people.js";
import { t } from "../../words/catalogue.js";
import { makeControls } from "./controls.js";

/** @typedef {import("../../views/shell/app.js").App} App */
/** @typedef {import("../../store/shapes.js").Payload} Payload */
/**
 * @typedef {object} Tile
 * @property {string} key
 * @property {string} userId
 * @property {MediaStreamTrack | null} track
 * @property {boolean} isScreen
 * @property {boolean} isOwn
 * @property {boolean} isMuted
 */

/**
 * @param {App} app
 * @param {import("./session.js").Session} session
 */
export function makeStage(app, session) {
  const { voice, store } = app;
  const tiles = h("ul", { class: "voice-tiles" });
  const controls = makeControls(app, session);
  const leave = iconButton("hang-up", t("voice.leave"), session.leave);
  leave.classList.add("danger");
  controls.element.append(leave);
  const element = h("section", { class: "voice-stage", "aria-label": t("voice.stage") }, tiles, controls.element);

  /** @returns {Tile[]} */
  function shown() {
    const received = session.received().filter(({ track }) => track.kind === "video");
    const states = [...(store.read.voice.get(voice.now.channelId ?? "")?.values() ?? [])];
    const { me } = store.read.session;
    /** @param {Payload} state */
    const isOwn = (state) => state["connection_id"] === voice.now.connectionId;
    /** @param {Payload} state @param {"CAMERA" | "SCREEN_SHARE"} kind */
    const picture = (state, kind) => {
      if (isOwn(state)) return session.own.sending.picture(kind);
      const id = state["connection_id"];
      return received.find((one) => one.connectionId === id && one.source === kind)?.track ?? null;
    };
    states.sort((one, other) => compareIds(one["user_id"], other["user_id"]));
    const screens = states.flatMap((state) => {
      const track = picture(state, "SCREEN_SHARE");
      return track ? [tile(state, track, true)] : [];
    });
    return [...screens, ...states.map((state) => tile(state, picture(state, "CAMERA"), false))];

    /** @param {Payload} state @param {MediaStreamTrack | null} track @param {boolean} isScreen */
    function tile(state, track, isScreen) {
      const { connection_id: id, user_id: userId, self_mute, mute, suppress } = state;
      const key = `${id}:${isScreen ? "screen" : "camera"}`;
      const isMuted = Boolean(self_mute || mute || suppress);
      return { key, userId, track, isScreen, isOwn: isOwn(state) && userId === me, isMuted };
    }
  }

  /** @param {Tile} tile */
  function make(tile) {
    const item = h("li", { class: tile.isScreen ? "voice-tile screen" : "voice-tile", "data-user": tile.userId });
    update(item, tile);
    return item;
  }

  /** @param {Element} item @param {Tile} tile */
  function update(item, { userId, track, isScreen, isOwn, isMuted }) {
    const name = nameOf({ store, guildId: voice.now.guildId }, { id: userId, username: "" });
    const element = /** @type {HTMLElement} */ (item);
    element.classList.toggle("speaking", !isScreen && voice.now.speaking.has(userId));
    const face = JSON.stringify([name, isMuted]);
    const picture = track?.id ?? "face";
    const isOther = element.dataset["picture"] !== picture;
    if (element.dataset["face"] === face && !isOther) return;
    element.dataset["face"] = face;
    element.dataset["picture"] = picture;
    const words = isScreen ? t("voice.screen_of", { name }) : name;
    const sign = [icon("microphone-off"), h("span", { class: "unseen" }, t("voice.is_muted"))];
    const label = h("p", { class: "voice-tile-name small" }, h("bdi", { class: "clip" }, words));
    if (isMuted && !isScreen) label.prepend(...sign);
    // A picture that is taken out of the page, if only to be put there again, stops.
    if (!isOther) return void element.querySelector(".voice-tile-name")?.replaceWith(label);
    if (track === null) return fill(element, faceOf(userId), label);
    const large = iconButton("full-screen", t("voice.full_screen", { name }), () => toggleFull(element));
    fill(element, pictureOf(track, words, isOwn && !isScreen), label, large);
    return undefined;
  }

  /** @param {string} userId */
  function faceOf(userId) {
    const picture = h("img", { class: "avatar", alt: "", width: "80", height: "80" });
    picture.src = avatarAddress(store.read.users.get(userId) ?? { id: userId, avatar: null }, 160);
    return picture;
  }

  function draw() {
    if (voice.now.phase === "away") return;
    keyed(tiles, shown(), ({ key }) => key, make, update);
    tiles.classList.toggle("has-screen", tiles.querySelector(".screen") !== null);
    leave.title = leave.ariaLabel = voice.now.guildId === null ? t("call.hang_up") : t("voice.leave");
    controls.draw();
  }

  return {
    element,
    draw,
    /** It stands in the page again: what was taken out of it has stopped. */
    wake() {
      for (const video of tiles.querySelectorAll("video")) video.play().catch(() => {});
    },
  };
}

/** @param {MediaStreamTrack} track @param {string} name @param {boolean} isMirrored As one knows oneself. */
function pictureOf(track, name, isMirrored) {
  const video = h("video", { class: isMirrored ? "mirrored" : "", autoplay: "", playsinline: "", "aria-label": name });
  video.muted = true;
  video.srcObject = new MediaStream([track]);
  return video;
}

/** @param {HTMLElement} element */
function toggleFull(element) {
  if (document.fullscreenElement === element) return void document.exitFullscreen();
  return void element.requestFullscreen().catch(() => {});
}
