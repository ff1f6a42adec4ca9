// The title of the tab, its sign and that of an installed client say how often the person is wanted.

import { ringingCalls } from "../../store/calls.js";
import { ALL } from "../../store/store.js";
import { newsByGuild } from "../../store/unread.js";
import { t } from "../../words/catalogue.js";
import { callerName } from "../names/calls.js";

/** @typedef {import("./app.js").App} App */

const ICON_PX = 64;
/** Topics of what is counted, and of what places are called. */
const SHOWN = /^(?:read|me|relationships|channels?|guilds|user|voice)(?::|$)/;

/** @param {Pick<App, "store" | "now" | "voice">} app */
export function makeTitle({ store, now, voice }) {
  const link = /** @type {HTMLLinkElement | null} */ (document.getElementById("icon"));
  const plain = link?.href ?? "";
  const service = document.body.dataset["serviceName"] ?? "";
  let nameNow = () => "";
  let shown = -1;

  function draw() {
    const count = [...newsByGuild(store.read, now()).values()].reduce((sum, news) => sum + news.mentions, 0);
    const [call] = voice.isThere ? ringingCalls(store.read) : [];
    const name = call ? t("call.is_calling", { name: callerName({ store }, call.channel_id) }) : nameNow();
    document.title = `${count > 0 ? `(${count}) ` : ""}${name === "" ? service : `${name} \u00b7 ${service}`}`;
    if (count > 0 === shown > 0 && shown !== -1 && count === shown) return;
    shown = count;
    /** @type {{setAppBadge?: (count: number) => Promise<void>}} */ (navigator).setAppBadge?.(count).catch(() => null);
    if (link) void marked(plain, count > 0).then((address) => (link.href = address));
  }

  const unwatch = store.watch([ALL], (topics) => {
    if ([...topics].some((topic) => SHOWN.test(topic))) draw();
  });

  return {
    /** @param {() => string} name What the place is called where the person is; it may change while they are there. */
    show(name) {
      nameNow = name;
      draw();
    },
    stop: unwatch,
  };
}

/**
 * The sign of the tab, with a dot if somebody wants the person.
 * @param {string} plain
 * @param {boolean} isWanted
 * @returns {Promise<string>}
 */
async function marked(plain, isWanted) {
  if (!isWanted) return plain;
  const image = new Image();
  image.src = plain;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = ICON_PX;
  const pen = canvas.getContext("2d");
  if (!pen) return plain;
  pen.drawImage(image, 0, 0, ICON_PX, ICON_PX);
  pen.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--badge") || "crimson";
  pen.beginPath();
  pen.arc(ICON_PX * 0.75, ICON_PX * 0.25, ICON_PX * 0.25, 0, Math.PI * 2);
  pen.fill();
  return canvas.toDataURL();
}
