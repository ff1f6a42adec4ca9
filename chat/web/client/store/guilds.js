// Guilds and their roles, emojis and stickers.

import { dropChannels } from "./channels.js";
import { byId } from "./shapes.js";
import { putThread } from "./threads.js";
import { keepLog } from "./logs.js";
import { putVoiceState } from "./passing.js";
import { putUser } from "./users.js";

/** @typedef {import("./shapes.js").Payload} Payload */
/** @typedef {import("./shapes.js").State} State */
/** @typedef {import("./shapes.js").Guild} Guild */
/** @typedef {import("./shapes.js").Touch} Touch */
/** @typedef {import("./shapes.js").Id} Id */

/**
 * Take over a guild as Ready, Guild Create and Guild Sync bring it.
 * @param {State} state
 * @param {Payload} whole
 */
export function putGuild(state, whole) {
  const logs = [...state.logs].filter(([id]) => state.channels.get(id)?.guild_id === whole.id);
  dropChannels(state, (channel) => channel.guild_id === whole.id);
  state.guilds.set(whole.id, whole.unavailable ? closed(whole) : open(whole));
  if (whole.unavailable) return;
  for (const member of whole.members) putUser(state, member.user);
  for (const channel of whole.channels) state.channels.set(channel.id, channel);
  for (const thread of whole.threads) putThread(state, thread);
  for (const voice of whole.voice_states) putVoiceState(state, voice);
  for (const [id, log] of logs) keepLog(state, id, log);
}

/**
 * The guild of an event; undefined while it is unavailable or unknown.
 * @param {State} state
 * @param {Id | null | undefined} id
 * @returns {Guild | undefined}
 */
export function openGuild(state, id) {
  const guild = id ? state.guilds.get(id) : undefined;
  return guild?.unavailable ? undefined : guild;
}

/**
 * @param {State} state
 * @param {Guild} guild
 * @param {Partial<Guild>} changes
 * @param {Touch} touch
 */
export function changeGuild(state, guild, changes, touch) {
  state.guilds.set(guild.id, { ...guild, ...changes });
  touch(`guild:${guild.id}`);
}

/** @type {import("./shapes.js").Applying} */
export const GUILD_EVENTS = {
  GUILD_CREATE(state, data, touch, now) {
    const isTold = Boolean(openGuild(state, data.id));
    tellOfGuild(state, data, touch, now);
    // Told of once more: an import or a claim has written or changed messages that no event names.
    for (const [id, log] of state.logs) {
      if (!isTold || state.channels.get(id)?.guild_id !== data.id) continue;
      state.logs.set(id, { ...log, isOld: true });
      touch(`log:${id}`);
    }
  },
  GUILD_SYNC: tellOfGuild,
  GUILD_DELETE(state, data, touch) {
    if (data.unavailable) return tellOfGuild(state, data, touch, 0);
    dropChannels(state, (channel) => channel.guild_id === data.id, touch);
    state.guilds.delete(data.id);
    touch("guilds");
    touch(`guild:${data.id}`);
  },
  GUILD_UPDATE(state, { guild_id: id, ...properties }, touch) {
    const guild = openGuild(state, id);
    if (!guild) return;
    changeGuild(state, guild, { properties }, touch);
    touch("guilds");
  },
  GUILD_ROLE_CREATE: putRoles,
  GUILD_ROLE_UPDATE: putRoles,
  GUILD_ROLE_UPDATE_BULK: putRoles,
  GUILD_ROLE_DELETE(state, { guild_id: id, role_id: gone }, touch) {
    const guild = openGuild(state, id);
    if (!guild) return;
    guild.roles.delete(gone);
    for (const [userId, member] of guild.members) {
      if (!member.roles.includes(gone)) continue;
      guild.members.set(userId, { ...member, roles: member.roles.filter((role) => role !== gone) });
    }
    for (const channel of state.channels.values()) {
      const overwrites = channel.guild_id === id ? (channel.permission_overwrites ?? []) : [];
      if (!overwrites.some((entry) => entry.id === gone)) continue;
      const left = overwrites.filter((entry) => entry.id !== gone);
      state.channels.set(channel.id, { ...channel, permission_overwrites: left });
      touch(`channel:${channel.id}`);
    }
    changeGuild(state, guild, {}, touch);
    touch(`channels:${id}`);
  },
  GUILD_EMOJIS_UPDATE(state, { guild_id: id, emojis }, touch) {
    const guild = openGuild(state, id);
    if (guild) changeGuild(state, guild, { emojis }, touch);
  },
  GUILD_STICKERS_UPDATE(state, { guild_id: id, stickers }, touch) {
    const guild = openGuild(state, id);
    if (guild) changeGuild(state, guild, { stickers }, touch);
  },
  GUILD_COUNTS_UPDATE(state, { counts }, touch) {
    for (const { guild_id: id, member_count: members, online_count: online } of counts) {
      const guild = openGuild(state, id);
      if (guild) changeGuild(state, guild, { counts: { members, online } }, touch);
    }
  },
};

/** @type {import("./shapes.js").Apply} */
function tellOfGuild(state, data, touch) {
  putGuild(state, data);
  touch("guilds");
  touch(`guild:${data.id}`);
  touch(`channels:${data.id}`);
}

/** @type {import("./shapes.js").Apply} */
function putRoles(state, data, touch) {
  const guild = openGuild(state, data.guild_id);
  if (!guild) return;
  for (const role of data.roles ?? [data.role]) guild.roles.set(role.id, role);
  changeGuild(state, guild, {}, touch);
  touch(`channels:${guild.id}`);
}

/** @returns {Guild} */
function open(/** @type {Payload} */ whole) {
  return {
    id: whole.id,
    unavailable: false,
    properties: whole.properties,
    roles: byId(whole.roles),
    members: new Map(whole.members.map((/** @type {import("wire").Member} */ member) => [member.user.id, member])),
    emojis: whole.emojis,
    stickers: whole.stickers,
    counts: { members: whole.member_count, online: whole.online_count },
    joinedAt: whole.joined_at,
  };
}

/** @returns {Guild} */
function closed(/** @type {Payload} */ stub) {
  return {
    id: stub.id,
    unavailable: true,
    properties: stub,
    roles: new Map(),
    members: new Map(),
    emojis: [],
    stickers: [],
    counts: { members: 0, online: 0 },
    joinedAt: null,
  };
}
