// From channel to channel, from guild to guild and from part to part of the page, by keys.

import { orderedChannels, orderedConversations } from "../../store/channels.js";
import { orderedGuilds } from "../../store/guild_order.js";
import { isReadable, newsOf } from "../../store/unread.js";
import { pathOf } from "./router.js";

/** @typedef {import("./app.js").App} App */

/** Channels that can be opened: with messages, or with threads. */
const OPENED = new Set([0, 1, 2, 3, 5, 10, 11, 12, 15, 16, 999]);

/** @param {App} app */
export function makeSteps({ store, place, go }) {
  /** @param {string | null} guildId */
  function openable(guildId) {
    const all = guildId === null ? orderedConversations(store.read) : orderedChannels(store.read, guildId);
    return all.filter((channel) => OPENED.has(channel.type) && isReadable(store.read, channel));
  }

  /**
   * @param {1 | -1} way
   * @param {boolean} onlyUnread
   */
  function step(way, onlyUnread) {
    const { guildId, channelId } = place();
    const all = openable(guildId);
    const at = all.findIndex(({ id }) => id === channelId);
    for (let count = 1; count <= all.length; count += 1) {
      const channel = all[(at + way * count + all.length * 2) % all.length];
      const news = channel && newsOf(store.read, channel, Date.now());
      if (channel && (!onlyUnread || news?.isUnread || news?.mentions))
        return go(pathOf({ guildId, channelId: channel.id }));
    }
    return undefined;
  }

  /** @param {1 | -1} way */
  function stepGuild(way) {
    const all = [null, ...orderedGuilds(store.read).map(({ id }) => id)];
    const next = all.at((all.indexOf(place().guildId) + way) % all.length) ?? null;
    go(pathOf({ guildId: next }));
  }

  /** The next part of the page takes the focus. */
  function nextRegion() {
    const regions = [...document.querySelectorAll("[data-region]")].filter((one) => one.checkVisibility());
    const at = regions.findIndex((one) => one.contains(document.activeElement));
    /** @type {HTMLElement | undefined} */ (regions[(at + 1) % regions.length])?.focus();
  }

  return { openable, step, stepGuild, nextRegion };
}
