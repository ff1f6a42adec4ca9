// A thread beside its channel, where the window is wide enough for two talks. The address is the thread's: on a
// narrower window it stands alone, and its head leads back.

import { isReadable } from "../../store/unread.js";
import { makeTalk } from "./talk.js";
import { pathOf } from "./router.js";

/** @typedef {import("./app.js").App} App */
/** @typedef {import("../../store/shapes.js").Channel} Channel */

/**
 * @param {App} app
 * @param {HTMLElement} ground What holds the talk.
 * @param {() => void} changed The window has become wide enough, or is no longer.
 */
export function makeBeside(app, ground, changed) {
  const { store } = app;
  const wide = matchMedia("(min-width: 72rem)");
  /** @type {import("./talk.js").Talk | null} */
  let talk = null;

  function close() {
    talk?.stop();
    talk?.element.remove();
    talk = null;
  }

  wide.addEventListener("change", changed);

  return {
    close,
    talk: () => talk,
    /**
     * The channel that a thread stands beside; null for what stands alone.
     * @param {Channel | undefined} channel
     */
    parentOf(channel) {
      const parent = channel?.["thread_metadata"] ? store.read.channels.get(channel.parent_id ?? "") : undefined;
      return wide.matches && parent && isReadable(store.read, parent) ? parent : null;
    },
    /**
     * @param {string} channelId
     * @param {string | null} guildId
     * @param {string | null} messageId
     * @param {string} parentId
     */
    open(channelId, guildId, messageId, parentId) {
      if (talk?.channelId !== channelId) {
        close();
        const back = () => app.go(pathOf({ guildId, channelId: parentId }));
        talk = makeTalk({ app, channelId, guildId, back, toggleMembers: back, isBeside: true });
        if (!matchMedia("(pointer: coarse)").matches) setTimeout(() => talk?.focus());
      }
      ground.append(talk.element);
      talk.open(messageId);
    },
  };
}
