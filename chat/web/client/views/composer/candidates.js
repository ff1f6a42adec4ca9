// Who and what can be named in a channel: members, roles, channels, emoji.

import { nameOfChannel } from "../names/channels.js";
import { nameOf, plainName, tagOf } from "../names/people.js";

/** @typedef {import("./completion_rules.js").Candidate} Candidate */

/**
 * @typedef {object} Where
 * @property {import("../../store/store.js").Store} store
 * @property {string} channelId
 * @property {string | null} guildId
 * @property {(guildId: string, word: string) => void} find Ask for members whose names begin so.
 * @property {() => Promise<import("wire").ChannelCommands>} commands Ask for those that can be invoked here.
 * @property {(leaf: import("./commands.js").Leaf) => void} invoke
 */

const VOICE = 2;
const TEXT_CHANNELS = new Set([0, 2, 5, 10, 11, 12, 15]);

/**
 * @param {Where} where
 * @param {import("./completion_rules.js").Kind} kind
 * @param {Readonly<Record<string, import("../names/emoji_names.js").Row[]>>} unicode Empty until it is there.
 * @returns {Candidate[]}
 */
export function candidates(where, kind, unicode) {
  if (kind === "person") return [...people(where), ...roles(where), ...everyone(where)];
  if (kind === "channel") return channels(where);
  return [...emoji(where), ...standard(unicode)];
}

/**
 * How something can be shown that is sent as this: its name, then what tells it from others of that name.
 * @param {Where} where
 * @param {string} source
 * @returns {string[]} none for what is not known here
 */
export function formsOf(where, source) {
  const { users, channels } = where.store.read;
  const [, mark = "", emojiName = "", id = ""] = /^<(?:(@[!&]?|#)|a?:(\w+):)(\d+)>$/.exec(source) ?? [];
  if (emojiName) return [`:${emojiName}:`];
  if (mark === "@&") {
    const role = guildOf(where)?.roles.get(id);
    return role ? [`@${plainName(role.name)}`] : [];
  }
  if (mark === "#") {
    const channel = channels.get(id);
    return channel?.guild_id ? [`#${nameOfChannel(where.store.read, channel)}`] : [];
  }
  const user = users.get(id) ?? guildOf(where)?.members.get(id)?.user;
  return user?.username ? [`@${nameOf(where, user)}`, `@${tagOf(user)}`] : [];
}

/** @param {Where} where */
function guildOf({ store, guildId }) {
  return guildId === null ? undefined : store.read.guilds.get(guildId);
}

/**
 * @param {Where} where
 * @returns {Candidate[]}
 */
function people(where) {
  const { users, channels } = where.store.read;
  const guild = guildOf(where);
  const members = guild
    ? [...guild.members.values()]
    : (channels.get(where.channelId)?.recipients ?? []).map((user) => ({ user, nick: null }));
  return members
    .map(({ user, nick }) => ({ user: users.get(user.id) ?? user, nick }))
    .filter(({ user }) => user.username)
    .map(({ user, nick }) => {
      const label = nick || user.global_name || user.username;
      const words = [label, user.username, ...(user.global_name ? [user.global_name] : [])];
      return { label, more: user.username, insert: `<@${user.id}>`, picture: null, words };
    });
}

/**
 * @param {Where} where
 * @returns {Candidate[]}
 */
function roles(where) {
  return [...(guildOf(where)?.roles.values() ?? [])]
    .filter((role) => role.id !== where.guildId && role.mentionable)
    .map((role) => ({
      label: `@${role.name}`,
      more: "",
      insert: `<@&${role.id}>`,
      picture: null,
      words: [role.name],
    }));
}

/**
 * @param {Where} where
 * @returns {Candidate[]}
 */
function everyone(where) {
  if (guildOf(where) === undefined) return [];
  return ["everyone", "here"].map((word) => ({
    label: `@${word}`,
    more: "",
    insert: `@${word}`,
    picture: null,
    words: [word],
  }));
}

/**
 * @param {Where} where
 * @returns {Candidate[]}
 */
function channels(where) {
  return [...where.store.read.channels.values()]
    .filter((one) => one.guild_id === where.guildId && where.guildId !== null && TEXT_CHANNELS.has(one.type))
    .map((one) => ({
      label: `#${one.name}`,
      more: "",
      insert: `<#${one.id}>`,
      picture: null,
      words: [one.name ?? ""],
      isLast: one.type === VOICE,
    }));
}

/**
 * @param {Where} where
 * @returns {Candidate[]}
 */
function emoji(where) {
  const guilds = [...where.store.read.guilds.values()];
  return guilds.flatMap((guild) => guild.emojis).map((one) => ({
    label: `:${one.name}:`,
    more: "",
    insert: `<${one.animated ? "a" : ""}:${one.name}:${one.id}>`,
    picture: `/media/emojis/${one.id}.webp?size=48`,
    words: [one.name],
  }));
}

/**
 * @param {Readonly<Record<string, import("../names/emoji_names.js").Row[]>>} unicode
 * @returns {Candidate[]}
 */
function standard(unicode) {
  return Object.values(unicode).flatMap((rows) =>
    rows.map(([sign, , name, also]) => ({
      label: `${sign} :${name}:`,
      more: "",
      insert: sign,
      picture: null,
      words: [name],
      also: also.split(" "),
    })),
  );
}
