// Small states, made of what a test says of them.

import { channelPermissions, outranks } from "../../../chat/web/client/store/permissions.js";
import { byId, emptyState } from "../../../chat/web/client/store/shapes.js";

export function stateOf({ roles, ...properties }, member, channel) {
  const state = emptyState();
  state.session.me = member.user.id;
  const members = new Map([[member.user.id, member]]);
  state.guilds.set(properties.id, { id: properties.id, unavailable: false, properties, roles: byId(roles), members });
  state.channels.set(channel.id, channel);
  return state;
}

export function permissionsIn(state, channelId) {
  return `${channelPermissions(state, state.channels.get(channelId))}`;
}

export function outranksIn(state, guildId, otherId, otherRoles) {
  return outranks(state.guilds.get(guildId), state.session.me, otherId, otherRoles);
}
