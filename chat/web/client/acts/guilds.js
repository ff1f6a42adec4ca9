// What is done with guilds and their channels.

import { storage } from "../base/storage.js";
import { orderSettings } from "../store/guild_order.js";

/** @typedef {import("./acts.js").Parts} Parts */
/** @typedef {import("../store/shapes.js").Id} Id */

/** An entry for a channel that says nothing but what is changed. */
const PLAIN_OVERRIDE = { collapsed: false, message_notifications: 3, muted: false, mute_config: null };
const INVITE_MS = 300_000;
const INVITE = /(?:^|\/)(?:invite\/)?([A-Za-z0-9_-]{2,64})\/?$/;

/** @typedef {import("wire").Answer<"GET", `/v1/invites/${string}`>} Invite */
/** @typedef {(code: string) => Promise<Invite | null>} KnownInvite */

/** @param {Parts} parts */
export function makeGuildActs({ store, rest, now }) {
  /** @type {Map<string, {at: number, invite: Promise<Invite | null>}>} what was looked up lately, by its code */
  const looked = new Map();
  /**
   * @param {string} guildId `null` stands for conversations.
   * @param {import("wire").ChangeGuildSettingsBody} change
   */
  function settings(guildId, change) {
    const place = guildId === "null" ? "@me" : guildId;
    return rest.patch(`/users/@me/guilds/${place}/settings`, { body: change });
  }

  /**
   * @param {string} guildId
   * @param {Id} channelId
   * @param {import("wire").ChannelOverrideBody} change
   */
  function override(guildId, channelId, change) {
    const known = store.read.guildSettings.get(guildId)?.["channel_overrides"] ?? {};
    return settings(guildId, {
      channel_overrides: { ...known, [channelId]: { ...PLAIN_OVERRIDE, ...known[channelId], ...change } },
    });
  }

  return {
    settings,
    /**
     * @param {{name: string, icon: string | null, template?: import("wire").CreateGuildBody["template"]}} guild
     *   `icon` is a data address.
     */
    create: ({ name, icon, template }) =>
      rest.post("/guilds", { body: { name, ...(icon && { icon }), ...(template && { template }) } }),
    /** What an invite leads to. @param {string} written A code, or an address with one. */
    invite: (written) => rest.get(`/invites/${codeOf(written)}`, { query: { with_counts: true } }),
    /**
     * The same once in five minutes; null of one that leads nowhere.
     * @param {string} code
     * @returns {Promise<Invite | null>}
     */
    knownInvite(code) {
      const known = looked.get(code);
      if (known && now() - known.at < INVITE_MS) return known.invite;
      const invite = rest.get(`/invites/${codeOf(code)}`, { query: { with_counts: true } }).catch((why) => {
        if (why.status === 404) return null;
        looked.delete(code);
        throw why;
      });
      looked.set(code, { at: now(), invite });
      return invite;
    },
    /** @param {string} written */
    join: (written) => rest.post(`/invites/${codeOf(written)}`),
    /** What guilds in discovery can be about. @returns {Promise<{id: number, name: string}[]>} */
    categories: () => rest.get("/discovery/categories"),
    /** Guilds that all may join. @param {Record<string, string | number | null>} query As the operation takes it. */
    discover: (query) => rest.get("/discovery/guilds", { query }),
    /** @param {Id} guildId */
    joinDiscovered: (guildId) => rest.post(`/discovery/guilds/${guildId}/join`),
    /** @param {Id} guildId */
    leave: (guildId) => rest.delete(`/users/@me/guilds/${guildId}`),
    /** @param {Id} guildId @param {boolean} muted */
    mute: (guildId, muted) => settings(guildId, { muted, mute_config: null }),
    /** @param {Id | null} guildId @param {Id} channelId @param {boolean} muted */
    muteChannel: (guildId, channelId, muted) => override(`${guildId}`, channelId, { muted, mute_config: null }),
    /** @param {Id} guildId @param {Id} channelId @param {number} level As the community (3), all, mentions, nothing. */
    channelNotifications: (guildId, channelId, level) => override(guildId, channelId, { message_notifications: level }),
    /** @param {Id} guildId @param {Id} categoryId @param {boolean} collapsed */
    collapse: (guildId, categoryId, collapsed) => override(guildId, categoryId, { collapsed }),
    /** @param {import("../store/guild_order.js").Entry[]} entries The rail as it is to be. */
    order(entries) {
      const { positions, folders } = orderSettings(entries);
      return rest.patch("/users/@me/settings", { body: { guild_positions: positions, guild_folders: folders } });
    },
    /** @param {Id} channelId @param {{max_age: number, max_uses: number, placeholder_id?: Id}} options */
    makeInvite: (channelId, options) => rest.post(`/channels/${channelId}/invites`, { body: options }),
    /** @param {Id} guildId @param {import("wire").CreateChannelBody} channel */
    createChannel: (guildId, channel) => rest.post(`/guilds/${guildId}/channels`, { body: channel }),
    /** @param {Id} channelId */
    deleteChannel: (channelId) => rest.delete(`/channels/${channelId}`),
    /** The person said to be an adult before the channels of a guild. @param {Id} guildId */
    enterForAdults: (guildId) => storage.put(`adult:${store.read.session.me}:${guildId}`, true),
    /** @param {Id} guildId @returns {Promise<boolean>} */
    isForAdultsEntered: async (guildId) => (await storage.get(`adult:${store.read.session.me}:${guildId}`)) === true,
    /** Where the person was in a guild. @param {string} guildId @returns {Promise<Id | undefined>} */
    lastChannel: (guildId) => storage.get(`place:${guildId}`),
    /** @param {string} guildId @param {Id} channelId */
    async keepChannel(guildId, channelId) {
      await storage.put(`place:${guildId}`, channelId);
      await storage.put("place", guildId);
    },
    /** The guild in which the person was last; `@me` of conversations. @returns {Promise<string | undefined>} */
    lastPlace: () => storage.get("place"),
  };
}

/**
 * The code in what somebody pasted.
 * @param {string} written
 */
export function codeOf(written) {
  return encodeURIComponent(INVITE.exec(written.trim().split(/[?#]/)[0] ?? "")?.[1] ?? written.trim());
}
