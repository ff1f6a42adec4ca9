// Members of guilds, as far as the session is told of them.

import { changeGuild, openGuild } from "./guilds.js";
import { putUser } from "./users.js";

/** @type {Readonly<Record<string, import("./shapes.js").Apply>>} */
export const MEMBER_EVENTS = {
  GUILD_MEMBER_ADD(state, { guild_id: id, ...member }, touch) {
    const guild = openGuild(state, id);
    if (!guild) return;
    putUser(state, member.user);
    guild.members.set(member.user.id, member);
    // A session hears of its own joining by Guild Create, which counts it already.
    const more = member.user.id === state.session.me ? 0 : 1;
    changeGuild(state, guild, { counts: { ...guild.counts, members: guild.counts.members + more } }, touch);
    touch(`user:${member.user.id}`);
  },
  GUILD_MEMBER_UPDATE(state, { guild_id: id, ...member }, touch) {
    const guild = openGuild(state, id);
    if (!guild) return;
    putUser(state, member.user);
    guild.members.set(member.user.id, member);
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
      guild.members.set(member.user.id, member);
      touch(`user:${member.user.id}`);
    }
    changeGuild(state, guild, {}, touch);
  },
};
