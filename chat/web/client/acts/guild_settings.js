// What is changed in the settings of a guild.

/** @typedef {import("./acts.js").Parts} Parts */
/** @typedef {import("../store/shapes.js").Id} Id */
/** @typedef {"emojis" | "stickers"} Expressions */

/** @param {Parts} parts */
export function makeGuildSettingsActs({ rest }) {
  /** @type {<More extends string>(guildId: Id, more: More) => `/guilds/${string}${More}`} */
  const at = (guildId, more) => `/guilds/${guildId}${more}`;
  return {
    /** @param {Id} guildId @param {import("wire").ModifyGuildBody} change */
    change: (guildId, change) => rest.patch(at(guildId, ""), { body: change }),
    /** @param {Id} guildId */
    makeRole: (guildId, /** @type {import("wire").CreateRoleBody} */ role) =>
      rest.post(at(guildId, "/roles"), { body: role }),
    /** @param {Id} guildId @param {Id} roleId @param {import("wire").ChangeRoleBody} change */
    changeRole: (guildId, roleId, change) => rest.patch(at(guildId, `/roles/${roleId}`), { body: change }),
    /** @param {Id} guildId @param {Id} roleId */
    deleteRole: (guildId, roleId) => rest.delete(at(guildId, `/roles/${roleId}`)),
    /** @param {Id} guildId @param {{id: Id, position: number}[]} order */
    orderRoles: (guildId, order) => rest.patch(at(guildId, "/roles"), { body: order }),
    /** @param {Id} guildId @param {string} query @param {number} offset */
    members: (guildId, query, offset) =>
      rest.post(at(guildId, "/members-search"), { body: { query, offset, limit: 25 } }),
    /** How the guild stands with discovery. @param {Id} guildId */
    discovery: (guildId) => rest.get(at(guildId, "/discovery")),
    /** @param {Id} guildId @param {import("wire").GuildDiscoveryApplyBody} wish */
    applyToDiscovery: (guildId, wish) => rest.post(at(guildId, "/discovery"), { body: wish }),
    /** @param {Id} guildId @param {import("wire").GuildDiscoveryApplyBody} wish */
    changeDiscovery: (guildId, wish) => rest.patch(at(guildId, "/discovery"), { body: wish }),
    /** @param {Id} guildId */
    withdrawFromDiscovery: (guildId) => rest.delete(at(guildId, "/discovery")),
    /** @param {Id} guildId */
    vanity: (guildId) => rest.get(at(guildId, "/vanity-url")),
    /** @param {Id} guildId @param {string | null} code */
    setVanity: (guildId, code) => rest.patch(at(guildId, "/vanity-url"), { body: { code } }),
    /** @param {Id} guildId */
    invites: (guildId) => rest.get(at(guildId, "/invites")),
    /** @param {string} code */
    deleteInvite: (code) => rest.delete(`/invites/${encodeURIComponent(code)}`),
    /** @param {Id} guildId */
    bans: (guildId) => rest.get(at(guildId, "/bans"), { query: { limit: 100 } }),
    /** @param {Id} guildId @param {Id} userId */
    lift: (guildId, userId) => rest.delete(at(guildId, `/bans/${userId}`)),
    /** @param {Id} guildId @param {Expressions} kind @param {string} name @param {string} image A data address. */
    makeExpression: (guildId, kind, name, image) => rest.post(at(guildId, `/${kind}`), { body: { name, image } }),
    /** @param {Id} guildId @param {Expressions} kind @param {Id} id */
    deleteExpression: (guildId, kind, id) => rest.delete(at(guildId, `/${kind}/${id}`)),
    /** @param {Id} guildId @param {{before?: Id, user_id: Id | null, action_type: string | null}} wish */
    auditLog: (guildId, wish) => rest.get(at(guildId, "/audit-logs"), { query: { limit: 50, ...wish } }),
    /** The commands of bots, and who may use them. @param {Id} guildId */
    commands: (guildId) => rest.get(at(guildId, "/application-commands")),
    /**
     * @param {Id} guildId
     * @param {Id} applicationId
     * @param {Id} commandId The application's own id for all its commands.
     * @param {import("wire").CommandPermission[]} permissions
     */
    setCommand: (guildId, applicationId, commandId, permissions) =>
      rest.put(`/applications/${applicationId}/guilds/${guildId}/commands/${commandId}/permissions`, {
        body: { permissions },
      }),
    /** @param {Id} guildId */
    webhooks: (guildId) => rest.get(at(guildId, "/webhooks")),
    /** @param {Id} channelId @param {string} name */
    makeWebhook: (channelId, name) => rest.post(`/channels/${channelId}/webhooks`, { body: { name } }),
    /** @param {Id} webhookId */
    deleteWebhook: (webhookId) => rest.delete(`/webhooks/${webhookId}`),
    /** @param {Id} guildId @param {Id} userId @param {import("./account_settings.js").Proof} proof */
    transfer: (guildId, userId, { body, sudo }) =>
      rest.ask("POST", at(guildId, "/transfer-ownership"), { body: { ...body, new_owner_id: userId }, sudo }),
    /** @param {Id} guildId @param {import("./account_settings.js").Proof} proof */
    remove: (guildId, { body, sudo }) => rest.ask("POST", at(guildId, "/delete"), { body: body ?? {}, sudo }),
    /** @param {Id} channelId @param {import("wire").Body<"PATCH", `/v1/channels/${string}`>} change */
    changeChannel: (channelId, change) => rest.patch(`/channels/${channelId}`, { body: change }),
    /** @param {Id} guildId @param {import("wire").Body<"PATCH", `/v1/guilds/${string}/channels`>} moves */
    moveChannels: (guildId, moves) => rest.patch(at(guildId, "/channels"), { body: moves }),
    /**
     * @param {Id} channelId
     * @param {Id} targetId
     * @param {import("wire").Body<"PUT", `/v1/channels/${string}/permissions/${string}`>} overwrite
     */
    overwrite: (channelId, targetId, overwrite) =>
      rest.put(`/channels/${channelId}/permissions/${targetId}`, { body: overwrite }),
    /** @param {Id} channelId @param {Id} targetId */
    clearOverwrite: (channelId, targetId) => rest.delete(`/channels/${channelId}/permissions/${targetId}`),
  };
}
