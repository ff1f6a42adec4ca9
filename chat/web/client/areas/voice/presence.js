// Who comes into the channel and who leaves it, read out.

import { nameOf } from "../../views/names/people.js";
import { t } from "../../words/catalogue.js";

/** @typedef {import("../../acts/voice.js").Room} Place */

/** @param {import("../../views/shell/app.js").App} app */
export function tellOfPresence({ store, announce }) {
  /** @type {Place | null} */
  let place = null;
  /** @type {Set<string>} */
  let there = new Set();

  const present = () =>
    new Set([...(store.read.voice.get(place?.channelId ?? "")?.values() ?? [])].map((one) => one["user_id"]));

  /** @param {string} userId */
  const named = (userId) => nameOf({ store, guildId: place?.guildId ?? null }, { id: userId, username: "" });

  return {
    /** @param {Place} next */
    begin(next) {
      place = next;
      there = present();
    },
    end() {
      place = null;
    },
    /** A voice state changed. */
    look() {
      if (place === null) return;
      const now = present();
      const { me } = store.read.session;
      const came = [...now].filter((id) => !there.has(id) && id !== me);
      const left = [...there].filter((id) => !now.has(id) && id !== me);
      there = now;
      const isCall = place.guildId === null;
      if (came[0] !== undefined) {
        const name = named(came[0]);
        announce(isCall ? t("call.came", { name }) : t("voice.came", { name }));
      } else if (left[0] !== undefined) {
        const name = named(left[0]);
        announce(isCall ? t("call.left", { name }) : t("voice.left", { name }));
      }
    },
  };
}
