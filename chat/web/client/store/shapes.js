// What the store holds, as types: wire objects by their ids, as the gateway sends them.

/** @typedef {string} Id A snowflake. */

/** @typedef {any} Payload What the gateway says, where it is not known yet which event it is; `Applying` knows. */
/** @typedef {Record<string, unknown>} Wire An object of the wire that is only handed on. */
/** @typedef {import("wire").PartialUser & Partial<import("wire").PrivateUser>} User The own account has more. */
/** @typedef {import("wire").Role} Role */
/** @typedef {import("wire").PermissionOverwrite} Overwrite `type` 0 of a role, 1 of a member. */
/** @typedef {import("wire").AnyOf<import("wire").Answer<"GET", `/v1/channels/${string}`>>} Channel */
/** @typedef {import("wire").Member} Member */
/** @typedef {import("wire").Reaction} Reaction */
/** @typedef {import("wire").Attachment} Attachment */
/** @typedef {import("wire").Embed} Embed */
/** @typedef {import("wire").Message & {guild_id?: Id, member?: Partial<Member>}} Message As events have it. */
/**
 * @typedef {object} Guild
 * @property {Id} id
 * @property {boolean} unavailable Closed, or not there yet: nothing else is known of it.
 * @property {import("wire").Guild} properties The guild object.
 * @property {Map<Id, Role>} roles
 * @property {Map<Id, Member>} members Those that the session was told of, its own among them.
 * @property {(import("wire").Emoji & {user?: User})[]} emojis
 * @property {(import("wire").Sticker & {user?: User})[]} stickers
 * @property {{members: number, online: number}} counts
 * @property {string | null} joinedAt ISO 8601.
 */
/** @typedef {import("wire").CustomStatus} CustomStatus */
/** @typedef {{status: string, mobile: boolean, afk: boolean, custom_status: CustomStatus | null}} Presence */
/**
 * @typedef {object} Read How far the account has read a channel.
 * @property {Id | null} last
 * @property {number} mentions
 * @property {string | null} pins When the pins were last looked at.
 * @property {string | null} version
 * @property {Id | null} unheard The channel's newest message when Ready told `mentions`.
 * @property {Map<Id, Set<string>>} counted Messages behind `mentions` that were heard, and why each counts.
 */
/**
 * @typedef {object} Log Messages of a channel, ascending and without a gap.
 * @property {Id[]} ids
 * @property {Map<Id, Message>} byId
 * @property {boolean} before Whether there are older ones.
 * @property {boolean} after Whether there are newer ones.
 * @property {string | null} fault Why the last fetch failed.
 * @property {boolean} [isOld] The server has said that its messages may be others by now: the next page replaces them.
 */
/** @typedef {{deleted: Set<Id>, updated: Map<Id, Message>, reacted: Set<Id>}} Meanwhile */
/**
 * @typedef {object} Unsent A message on its way.
 * @property {string} nonce
 * @property {Id} channel
 * @property {Wire} body As it is sent.
 * @property {number} since Unix milliseconds.
 * @property {"queued" | "sending" | "sent" | "unsure" | "failed"} state
 * @property {Message | null} referenced The message that it answers.
 * @property {string | null} fault Why it was refused.
 */
/**
 * @typedef {object} Used What was done with a component of a message.
 * @property {Id} message
 * @property {string} customId
 * @property {"waiting" | "silent"} state `silent`: the application did not answer.
 */
/** @typedef {{channel_id: Id} & Partial<Events["CALL_UPDATE"]>} Call `ringing`: whom it rings. */
/** @typedef {Pick<Presence, "status" | "custom_status">} Seen */
/** @typedef {User | import("wire").AccountReference} SomeUser Of a member who has just left, the id alone. */
/** @typedef {{user: SomeUser, nick?: string | null, roles?: Id[], presence?: Seen | undefined}} ListedMember */
/** @typedef {{group?: {id: string, count: number}, member?: ListedMember}} ListRow One of the two. */
/**
 * @typedef {object} MemberList
 * @property {{id: string, count: number}[]} groups
 * @property {Map<number, ListRow>} rows By position.
 * @property {{members: number, online: number}} counts
 */
/**
 * @typedef {object} State
 * @property {{id: string | null, me: Id, live: boolean}} session
 * @property {import("wire").UserSettings | null} settings
 * @property {Map<string, import("wire").UserGuildSettings>} guildSettings By guild; `null` of conversations.
 * @property {Map<Id, string>} notes
 * @property {Map<Id, User>} users
 * @property {Map<Id, Presence>} presences Without those that are offline.
 * @property {Map<Id, import("wire").Relationship>} relationships
 * @property {Map<Id, Guild>} guilds
 * @property {Map<Id, Channel>} channels Of guilds, threads and conversations.
 * @property {Set<Id>} joined Threads that the account is in.
 * @property {Id[]} pinned Conversations that the account has pinned.
 * @property {import("wire").FavoriteMeme[]} memes
 * @property {Set<Id>} reminded Messages of which the account was reminded, until it takes the reminder away.
 * @property {Map<Id, Read>} reads
 * @property {Map<Id, Log>} logs
 * @property {Map<Id, Set<Meanwhile>>} fetching What happens in a channel while pages of it are fetched.
 * @property {Map<string, MemberList>} lists By guild and list, as `GUILD:LIST`.
 * @property {Map<Id, Map<Id, number>>} typing By channel and account: until when (Unix milliseconds).
 * @property {Map<Id, Map<string, Wire & {user_id: Id}>>} voice Voice states by channel and connection.
 * @property {Map<Id, Call>} calls By channel.
 * @property {Map<string, Unsent>} outbox By nonce.
 * @property {Map<string, Used>} used Components that this tab waits for, by nonce.
 * @property {Map<Id, Map<Id, Message>>} ephemeral Messages that the account alone sees, by channel.
 * @property {Map<Id, string>} drafts What is typed and not sent, by channel.
 */
/**
 * @typedef {string} Topic `me`, `guilds`, `relationships`, `guild:ID`, `channels:GUILD` (`@me`: conversations),
 *   `channel:ID`, `log:ID`, `pins:ID`, `read:ID`, `list:GUILD:LIST`, `typing:ID`, `voice:ID`, `user:ID`.
 */
/** @typedef {(topic: Topic) => void} Touch */
/** @typedef {(state: State, data: Payload, touch: Touch, now: number) => void} Apply */
/** @typedef {import("wire").Events} Events */
/**
 * @template {keyof Events} Name
 * @typedef {(state: State, data: Events[Name], touch: Touch, now: number) => void} ApplyEvent
 */
/** @typedef {{readonly [Name in keyof Events]?: ApplyEvent<Name>}} Applying What events do, each by its own type. */

/** @returns {State} */
export function emptyState() {
  return {
    session: { id: null, me: "", live: false },
    settings: null,
    guildSettings: new Map(),
    notes: new Map(),
    users: new Map(),
    presences: new Map(),
    relationships: new Map(),
    guilds: new Map(),
    channels: new Map(),
    joined: new Set(),
    pinned: [],
    memes: [],
    reminded: new Set(),
    reads: new Map(),
    logs: new Map(),
    fetching: new Map(),
    lists: new Map(),
    typing: new Map(),
    voice: new Map(),
    calls: new Map(),
    outbox: new Map(),
    used: new Map(),
    ephemeral: new Map(),
    drafts: new Map(),
  };
}

/**
 * Which of two snowflakes is older: negative for the first.
 * @param {Id} one
 * @param {Id} other
 */
export function compareIds(one, other) {
  return one.length - other.length || (one < other ? -1 : Number(one > other));
}

/**
 * @template {{id: Id}} T
 * @param {Iterable<T>} objects
 * @returns {Map<Id, T>}
 */
export function byId(objects) {
  return new Map([...objects].map((entry) => [entry.id, entry]));
}
