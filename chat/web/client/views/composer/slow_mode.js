// How long one waits in a slow channel before the next message, counted down beside the field.

import { h } from "../../base/dom.js";
import { BITS, may } from "../../store/permissions.js";
import { t } from "../../words/catalogue.js";

const SECOND = 1000;

/**
 * How many seconds the account waits between two messages in a channel; 0 where the channel is not slow for it.
 * @param {import("../../store/shapes.js").State} state
 * @param {string} channelId
 */
export function pauseIn(state, channelId) {
  const channel = state.channels.get(channelId);
  const seconds = Number(channel?.["rate_limit_per_user"] ?? 0);
  return channel?.guild_id && seconds > 0 && may(state, channel, BITS.BYPASS_SLOWMODE) ? 0 : seconds;
}

/**
 * @param {() => number} seconds between two messages; 0 where nobody waits
 * @param {() => number} now
 * @param {() => void} changed
 */
export function makeSlowMode(seconds, now, changed) {
  const element = h("span", { class: "slow meta", role: "timer" });
  let until = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  function left() {
    return Math.max(0, Math.ceil((until - now()) / SECOND));
  }

  function tick() {
    const rest = left();
    element.textContent = rest > 0 ? t("composer.slow", { n: rest }) : "";
    clearTimeout(timer);
    if (rest > 0) timer = setTimeout(tick, until - now() - (rest - 1) * SECOND);
    changed();
  }

  return {
    element,
    isWaiting: () => left() > 0,
    sent() {
      until = now() + seconds() * SECOND;
      if (seconds() > 0) tick();
    },
    stop: () => clearTimeout(timer),
  };
}
