// Somebody who is alone in a call: it rings at the others, nobody has answered, or they have gone.

import { peopleInCall } from "../../store/calls.js";
import { ALL } from "../../store/store.js";
import { nameOfPerson } from "../../views/names/calls.js";
import { listOf } from "../../words/dates.js";
import { t } from "../../words/catalogue.js";

/** @param {import("../../views/shell/app.js").App} app */
export function watchWaiting(app) {
  const { store, voice } = app;
  /** @type {string | null} the stay that the rest is about */
  let connection = null;
  let hasAsked = false;
  let hasRung = false;
  let hasCompany = false;

  function words() {
    const { phase, guildId, channelId, connectionId } = voice.now;
    if (connection !== connectionId) {
      connection = connectionId;
      hasAsked = hasRung = hasCompany = false;
    }
    if (guildId !== null || channelId === null) return null;
    // It rings before the room is entered, and somebody may have declined by then.
    const isAlone = !peopleInCall(store.read, channelId).some((id) => id !== store.read.session.me);
    const rung = store.read.calls.get(channelId)?.ringing ?? [];
    hasCompany ||= !isAlone;
    hasRung ||= rung.length > 0;
    if (!isAlone || phase !== "live") return null;
    if (rung.length > 0) return t("call.calling", { names: listOf(rung.map((id) => nameOfPerson(app, id))) });
    if (hasCompany) return t("call.alone");
    if (hasRung) return t("call.unanswered");
    return hasAsked ? t("call.not_rung") : null;
  }

  const look = () => voice.put({ waiting: words() });
  voice.watch((changed) => !changed.has("waiting") && look());
  store.watch([ALL], (topics) => [...topics].some((topic) => topic.startsWith("voice:")) && look());

  return {
    /** The others are to be rung. @param {string} channelId */
    async ring(channelId) {
      hasAsked = false;
      await app.acts.calls.ring(channelId);
      hasAsked = true;
      look();
    },
  };
}
