// What this browser looks at, told to the gateway (opcode 14): the guild in sight is active, and its member list comes.

/** @typedef {[number, number][]} Ranges Positions of a member list, both ends included: 0 to 99 are a hundred. */
/** @typedef {{guildId: string, channelId: string, ranges: Ranges}} Sight */

/**
 * @param {(op: number, data: any) => void} command
 */
export function makeInterest(command) {
  /** @type {Sight | null} */
  let sight = null;

  /** @param {Sight | null} next */
  function tell(next) {
    /** @type {Record<string, any>} */
    const subscriptions = {};
    if (sight && sight.guildId !== next?.guildId) subscriptions[sight.guildId] = { member_list_channels: {} };
    if (next) {
      const lists = next.ranges.length > 0 ? { [next.channelId]: next.ranges } : {};
      subscriptions[next.guildId] = { active: true, typing: true, threads: true, member_list_channels: lists };
    }
    sight = next;
    if (Object.keys(subscriptions).length > 0) command(14, { subscriptions });
  }

  return {
    /**
     * @param {string | null} guildId None: a conversation is looked at.
     * @param {string} channelId
     * @param {Ranges} ranges Rows of its member list; none if the list is closed.
     */
    show(guildId, channelId, ranges) {
      tell(guildId === null ? null : { guildId, channelId, ranges });
    },
    /** A new session knows nothing of it. */
    again: () => tell(sight),
  };
}
