// Members of guilds, as far as the session is told of them.

import { changeGuild, openGuild } from "./guilds.js";
import { putUser } from "./users.js";

/** @typedef {import("./shapes.js").Guild} Guild */
/** @typedef {import("./shapes.js").State} State */

/** Members of a guild that are kept beside one's own; the one that was told of last goes last. */
export const MEMBERS_KEPT = 5000;

/**
 * Take over a member that something else brought along. Nobody is told where nothing changed.
 * @param {State} state
 * @param {string} guildId
 * @param {import("./shapes.js").Member} member
 * @param {import("./shapes.js").Touch} touch
 */
export function keepMember(state, guildId, member, touch) {
  const guild = openGuild(state, guildId);
  if (!guild) return;
  putUser(state, member.user);
  const known = guild.members.get(member.user.id);
  if (known && known.nick === member.nick && String(known.roles) === String(member.roles)) return;
  put(state, guild, member);
  changeGuild(state, guild, {}, touch);
}

/**
 * @param {State} state
 * @param {Guild} guild
 * @param {import("./shapes.js").Member} member
 */
function put(state, guild, member) {
  guild.members.delete(member.user.id);
  guild.members.set(member.user.id, member);
  if (guild.members.size <= MEMBERS_KEPT) return;
  for (const id of guild.members.keys()) {
    if (id === state.session.me) continue;
    guild.members.delete(id);
    return;
  }
}

/** @type {import("./shapes.js").Applying} */
export const MEMBER_EVENTS = {
  GUILD_MEMBER_ADD(state, { guild_id: id, ...member }, touch) {
    const guild = openGuild(state, id);
    if (!guild) return;
    putUser(state, member.user);
    put(state, guild, member);
    // A session hears of its own joining by Guild Create, which counts it already.
    const more = member.user.id === state.session.me ? 0 : 1;
    changeGuild(state, guild, { counts: { ...guild.counts, members: guild.counts.members + more } }, touch);
    touch(`user:${member.user.id}`);
  },
  GUILD_MEMBER_UPDATE(state, { guild_id: id, ...member }, touch) {
    const guild = openGuild(state, id);
    if (!guild) return;
    putUser(state, member.user);
    put(state, guild, member);
    changeGuild(state, guild, {}, touch);
    touch(`user:${member.user.id}`);
    if (member.user.id === state.session.me) touch(`channels:${id}`);
  },
  GUILD_MEMBER_REMOVE(state, { guild_id: id, user }, touch) {
    const guild = openGuild(state, id);
    if (!guild) return;
    guild.members.delete(user.id);
    changeGuild(state, guild, { counts: { ...guild.counts, members: guild.counts.members - 1 } }, touch);
    touch(`user:${user.id}`);
  },
  GUILD_MEMBERS_CHUNK(state, { guild_id: id, members }, touch) {
    const guild = openGuild(state, id);
    if (!guild) return;
    for (const member of members) {
      putUser(state, member.user);
      put(state, guild, member);
      touch(`user:${member.user.id}`);
    }
    changeGuild(state, guild, {}, touch);
  },
  MESSAGE_CREATE(state, { guild_id: id, author, member }, touch) {
    if (id && member) keepMember(state, id, { ...member, user: author }, touch);
  },
};
