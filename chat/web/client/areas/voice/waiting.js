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
    if (guildId !== null || channelId === null || phase !== "live") return null;
    if (peopleInCall(store.read, channelId).some((id) => id !== store.read.session.me)) {
      hasCompany = true;
      return null;
    }
    const rung = store.read.calls.get(channelId)?.ringing ?? [];
    if (rung.length > 0) {
      hasRung = true;
      return t("call.calling", { names: listOf(rung.map((id) => nameOfPerson(app, id))) });
    }
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
