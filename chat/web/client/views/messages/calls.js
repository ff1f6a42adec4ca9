// What a message says of a call: that it goes on, how long it was, or that somebody was not reached.

import { h } from "../../base/dom.js";
import { icon } from "../../base/icon.js";
import { t, tn } from "../../words/catalogue.js";
import { duration, rowOf } from "../../words/dates.js";
import { nameOf } from "../names/people.js";

const MINUTE_S = 60;

/**
 * @param {import("wire").Message} message
 * @param {import("../names/people.js").Place} place
 */
export function callSaying(message, place) {
  const name = nameOf(place, message.author);
  const { me } = place.store.read.session;
  const ended = message.call?.ended_timestamp ?? null;
  const people = message.call?.participants ?? [];
  const isMissed = ended !== null && !people.includes(me);
  const isAnswered = people.length > 1;
  const element = h("p", { class: "system" }, icon(isMissed ? "hang-up" : "phone"));
  const said = isMissed
    ? tn("call.missed", { name })
    : ended === null || !message.call
      ? tn("system.call", { name })
      : isAnswered
        ? tn("call.lasted", { name, duration: lasted(message.timestamp, ended) })
        : tn("call.nobody", { name });
  const act = ended === null ? t("call.join") : isMissed ? t("call.back") : isAnswered ? null : t("call.again");
  element.append(h("span", {}, ...said));
  const isThere = document.body.dataset["hasVoice"] === "yes" && message.call !== undefined;
  if (act === null || !isThere) return element;
  const style = ended === null ? "button plain call-join" : "button plain";
  element.append(h("button", { type: "button", class: style, "data-act": "call" }, act));
  return element;
}

/** @param {string} from ISO 8601, as `to`. @param {string} to */
function lasted(from, to) {
  const seconds = Math.max(1, Math.round((Date.parse(to) - Date.parse(from)) / 1000));
  if (seconds < MINUTE_S) return duration(seconds, "second");
  const all = Math.round(seconds / MINUTE_S);
  const [hours, minutes] = [Math.floor(all / 60), all % 60];
  if (hours === 0) return duration(minutes, "minute");
  return rowOf([duration(hours, "hour"), ...(minutes > 0 ? [duration(minutes, "minute")] : [])]);
}
