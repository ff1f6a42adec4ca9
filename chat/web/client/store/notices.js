// Whether the account wants to be told of a message: the same decision as the server's for devices
// (chat/domain/accounts/notification_settings.py). What stands nearer counts more: the thread, its channel, the
// category, the guild as the account has set it, the guild's own default. What the account has chosen for the author
// counts more than all of these, and more than what is muted.

import { isEphemeral } from "./interactions.js";
import { isSilenced, personLevel } from "./person_notices.js";
import { isMuted } from "./unread.js";

/** @typedef {import("./shapes.js").State} State */
/** @typedef {import("./shapes.js").Message} Message */
/** @typedef {Partial<import("wire").UserGuildSettings>} Settings */

const SUPPRESS_NOTIFICATIONS = 1 << 12;
/** Plain messages, calls and replies. */
const TOLD = new Set([0, 3, 19]);
const ALL_MESSAGES = 0;
const ONLY_MENTIONS = 1;
const INHERIT = 3;
/** Bits of a thread member's `flags`, and what each chooses. */
const THREAD_LEVELS = /** @type {const} */ ([
  [8, 2],
  [4, ONLY_MENTIONS],
  [2, ALL_MESSAGES],
]);
const LETTER = /[\p{L}\p{N}]/u;
const DIGIT = /\p{Nd}/u;

/**
 * @param {State} state
 * @param {Message} message As events have it.
 * @param {number} now Unix milliseconds.
 * @param {readonly string[]} words Those that are worth a mention.
 * @returns {boolean}
 */
export function isNotified(state, message, now, words) {
  const { me } = state.session;
  const author = message["author"].id;
  if (author === me || isEphemeral(message) || isSilenced(state, author)) return false;
  if (!TOLD.has(message["type"]) || message["flags"] & SUPPRESS_NOTIFICATIONS) return false;
  const channel = state.channels.get(message["channel_id"]);
  const guildId = message["guild_id"] ?? null;
  const guild = guildId === null ? undefined : state.guilds.get(guildId);
  const member = guild?.members.get(me);
  if (!channel || (guildId !== null && (!guild || !member))) return false;
  if (personLevel(state, author) === ALL_MESSAGES) return true;
  /** @type {Settings} */
  const settings = state.guildSettings.get(`${guildId}`) ?? {};
  const overrides = placesOf(state, channel)
    .map((id) => settings["channel_overrides"]?.[id])
    .filter((found) => found !== undefined);
  const isThread = Boolean(channel["thread_metadata"]);
  /** @type {Partial<import("wire").ThreadMember> | null} */
  const own = isThread && state.joined.has(channel.id) ? (channel.member ?? {}) : null;
  if ([settings, ...overrides, ...(own ? [own] : [])].some((entry) => isMuted(entry, now))) return false;
  const isNamed =
    message["mentions"].some((user) => user["id"] === me) || saysOneOf(message["content"], words);
  if (isThread && !own) return isNamed;
  const levels = [
    ...(own ? [threadLevel(own["flags"] ?? 0)] : []),
    ...[...overrides, settings].map((entry) => entry["message_notifications"] ?? INHERIT),
    guild ? guild.properties["default_message_notifications"] : ALL_MESSAGES,
  ];
  const level = levels.find((one) => one !== INHERIT);
  if (level === ALL_MESSAGES) return true;
  return level === ONLY_MENTIONS && (isNamed || isMeant(message, settings, member?.roles ?? []));
}

/**
 * The channel and what is above it, the nearest first.
 * @param {State} state
 * @param {import("./shapes.js").Channel} channel
 */
function placesOf(state, channel) {
  const places = [channel.id];
  for (let at = channel.parent_id; at && places.length < 3; at = state.channels.get(at)?.parent_id) places.push(at);
  return places;
}

/** @param {number} flags */
function threadLevel(flags) {
  return THREAD_LEVELS.find(([bit]) => flags & bit)?.[1] ?? INHERIT;
}

/**
 * Whether the message means the account as one of many.
 * @param {Message} message
 * @param {Settings} settings
 * @param {string[]} roles
 */
function isMeant(message, settings, roles) {
  if (message["mention_everyone"] && !settings["suppress_everyone"]) return true;
  return !settings["suppress_roles"] && message["mention_roles"].some((id) => roles.includes(id));
}

/**
 * Whether a text has one of the words (chat/domain/accounts/notification_words.py).
 * @param {string} text
 * @param {readonly string[]} words
 */
export function saysOneOf(text, words) {
  const lower = text.toLowerCase();
  return words.some((word) => word !== "" && standsIn(lower, word.toLowerCase()));
}

/** @param {string} text @param {string} word */
function standsIn(text, word) {
  const [first, last] = [[...word][0] ?? "", [...word].at(-1) ?? ""];
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    const before = [...text.slice(Math.max(0, at - 2), at)].at(-1) ?? "";
    const after = [...text.slice(at + word.length, at + word.length + 2)][0] ?? "";
    if (!runsOn(before, first) && !runsOn(after, last)) return true;
  }
  return false;
}

/** @param {string} neighbour @param {string} edge */
function runsOn(neighbour, edge) {
  const isRun = LETTER.test(neighbour) && LETTER.test(edge);
  return isRun && (DIGIT.test(edge) || edge.toUpperCase() !== edge.toLowerCase());
}

/**
 * Whether the account's quiet hours hold; they may go over midnight. A zone that is not known here counts as UTC.
 * @param {import("wire").QuietHours | null | undefined} hours
 * @param {number} now Unix milliseconds.
 */
export function isQuiet(hours, now) {
  if (!hours) return false;
  const { start, end } = hours;
  const clock = clockIn(hours["timezone"], now);
  return start <= end ? start <= clock && clock < end : clock >= start || clock < end;
}

/** @param {string} zone @param {number} now @returns {string} `HH:MM` */
function clockIn(zone, now) {
  /** @type {Intl.DateTimeFormatOptions} */
  const form = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
  try {
    return new Intl.DateTimeFormat("en", { ...form, timeZone: zone }).format(now);
  } catch {
    return new Intl.DateTimeFormat("en", { ...form, timeZone: "UTC" }).format(now);
  }
}
