// A state as the decision about notifications needs it, out of what plain JSON can say.

import { isNotified } from "../../../chat/web/client/store/notices.js";
import { emptyState } from "../../../chat/web/client/store/shapes.js";

export { isQuiet, saysOneOf } from "../../../chat/web/client/store/notices.js";

/** @param {any} drawn @param {any} message @param {number} now @param {string[]} words */
export function decided(drawn, message, now, words) {
  const state = emptyState();
  state.session.me = drawn.me;
  for (const channel of drawn.channels) state.channels.set(channel.id, channel);
  for (const id of drawn.joined) state.joined.add(id);
  for (const [id, type] of drawn.relationships) state.relationships.set(id, { type });
  state.settings = /** @type {any} */ ({ person_notifications: drawn.persons });
  if (drawn.settings) state.guildSettings.set(String(drawn.guild?.id ?? null), drawn.settings);
  if (drawn.guild) {
    const members = new Map([[drawn.me, { user: { id: drawn.me }, roles: drawn.roles, nick: null }]]);
    state.guilds.set(drawn.guild.id, /** @type {any} */ ({ ...drawn.guild, members }));
  }
  return isNotified(state, message, now, words);
}
