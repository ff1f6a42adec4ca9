// Finding guilds, and one guild with its parts.

import { h } from "../client/base/dom.js";
import { archivesOf } from "./admin_archives.js";
import { owner } from "./admin_account_parts.js";
import { entriesTable } from "./admin_audit_log.js";
import { actionButton } from "./admin_dialog.js";
import { GUILD_ACTIONS, IMAGES } from "./admin_guild_actions.js";
import { READS } from "./admin_operations.js";
import { accountLink, card, code, facts, fromOutside, growing, guildPlace, inZone, link, madeAt, muted, pager, plain, table, tag, withDistance } from "./admin_parts.js";
import { again, go, look, results, searchedBy } from "./admin_places.js";
import { DISABLED_OPERATIONS, VERIFICATION_LEVELS, bitsOf, inWords } from "./admin_registries.js";
import { ask, may } from "./admin_session.js";
import { locale, plural, t, tn } from "./spoken.js";

const LIMIT = 50;
const ENTRIES = 100;
const NAMES = ["q", "sort_by", "sort_order"];

/** @typedef {import("../client/base/dom.js").Child} Child */
/** @typedef {import("wire").AdminGuildDetails} Guild */
/** @typedef {{guild: Guild, params: {guild_id: string}}} Context */
/** @typedef {(context: Context, signal: AbortSignal, search: URLSearchParams) => Promise<Child>} Show */
/** @typedef {{acls: import("./admin_session.js").Acls}} Reads */
/** @typedef {import("wire").AdminEmoji | import("wire").AdminSticker} Expression */
/** @typedef {typeof GUILD_ACTIONS} Actions */
/**
 * @template C
 * @typedef {{[Name in keyof Actions]:
 *   Actions[Name] extends import("./admin_dialog.js").Action<C, never> ? Name : never}[keyof Actions]} NameOf
 * The actions that need nothing but this context.
 */

const numberOf = (/** @type {URLSearchParams} */ search, /** @type {string} */ name) => Math.max(0, Number.parseInt(search.get(name) ?? "0", 10) || 0);

/**
 * @param {import("./admin_places.js").Visit} visit
 * @returns {Promise<import("./admin_places.js").Shown>}
 */
export async function showGuilds({ search, signal }) {
  const wanted = Object.fromEntries(NAMES.map((name) => [name, search.get(name) ?? ""]));
  const offset = numberOf(search, "offset");
  const found = async () => {
    const { guilds, total } = await ask(READS.guilds, { query: { ...wanted, limit: LIMIT, offset }, signal });
    return [
      h("h2", { id: "results", class: "results", tabindex: "-1" }, plural(total, "{n} guild", "{n} communities")),
      table(
        t("Communities"),
        [
          [t("Community"), (guild) => link(guildPlace(guild.id), fromOutside(guild.name))],
          ["ID", (guild) => code(guild.id)],
          [t("Owner"), (guild) => accountLink(guild.owner_id, owner(guild))],
          [t("Members"), (guild) => guild.member_count.toLocaleString(locale())],
          [t("Features"), (guild) => (guild.features.length === 0 ? "–" : plural(guild.features.length, "{n} feature", "{n} features"))],
        ],
        guilds,
        { empty: t("No community fits.") },
      ),
      pager({ offset, limit: LIMIT, total, go: (to) => look({ ...wanted, offset: to || null }) }),
    ];
  };
  return { title: t("Communities"), content: [form(wanted), h("div", {}, await results(found))] };
}

/** @param {Record<string, string>} wanted */
function form(wanted) {
  /** @type {(name: string, label: string, options: [string, string][]) => HTMLElement} */
  const select = (name, label, options) =>
    h(
      "div",
      { class: "field" },
      h("label", { for: `guilds-${name}` }, label),
      h("select", { id: `guilds-${name}`, name }, options.map(([value, words]) => h("option", { value, selected: value === wanted[name] }, words))),
    );
  const element = h(
    "form",
    { class: "card search", role: "search", "aria-label": t("Communities") },
    h(
      "div",
      { class: "field" },
      h("label", { for: "guilds-q" }, t("Name, invite code or ID")),
      h("input", { id: "guilds-q", name: "q", type: "search", value: wanted["q"], maxlength: "1024", autocomplete: "off" }),
    ),
    select("sort_by", t("Sorted by"), [["", t("when it was made")], ["name", t("name")], ["member_count", t("members")]]),
    select("sort_order", t("Order"), [["", t("falling")], ["asc", t("rising")]]),
    h("button", { type: "submit", class: "primary" }, t("Search")),
  );
  element.addEventListener("submit", (event) => {
    event.preventDefault();
    go("/admin/guilds", searchedBy(element));
  });
  return element;
}

/** @type {[name: string, words: string, reads: Reads, show: Show][]} */
const PARTS = [
  ["members", t("Members"), READS.guildMembers, members],
  ["emojis", t("Emojis"), READS.guildEmojis, expressions("emoji", async (asked) => (await ask(READS.guildEmojis, asked)).emojis, GUILD_ACTIONS.purgeEmoji, t("Emojis"), t("The community has no emoji."))],
  ["stickers", t("Stickers"), READS.guildStickers, expressions("sticker", async (asked) => (await ask(READS.guildStickers, asked)).stickers, GUILD_ACTIONS.purgeSticker, t("Stickers"), t("The community has no sticker."))],
  ["audit-log", t("Its audit log"), READS.guildAuditLog, auditLog],
  ["archives", t("Archives"), READS.archives, archives],
  ["history", t("History"), READS.auditLog, history],
];

/** @type {Guild | null} The one that is looked at, so that going through its parts does not record a reading each time. */
let kept = null;

/**
 * @param {import("./admin_places.js").Visit} visit
 * @returns {Promise<import("./admin_places.js").Shown>}
 */
export async function showGuild({ params, search, signal }) {
  const { guild_id: id = "", part: name = "overview" } = params;
  if (kept?.id !== id || name === "overview") kept = (await ask(READS.guild, { params: { guild_id: id }, signal })).guild;
  const guild = kept;
  if (guild === null) return { title: t("There is nothing here"), content: null };
  const context = { params: { guild_id: id }, guild };
  const parts = PARTS.filter(([, , read]) => may(read));
  const part = parts.find(([one]) => one === name);
  const item = (/** @type {string} */ one, /** @type {string} */ words) =>
    h("li", {}, h("a", { href: one === "overview" ? guildPlace(id) : `${guildPlace(id)}/${one}`, "aria-current": one === name ? "page" : null }, words));
  return {
    title: guild.name,
    lead: [
      h("p", { class: "identity" }, code(id), guild.features.filter((feature) => feature.startsWith("UNAVAILABLE")).map((feature) => tag(inWords(feature.toLowerCase()), "off"))),
      h("nav", { class: "tabs", "aria-label": t("Community") }, h("ul", {}, item("overview", t("Overview")), parts.map(([one, words]) => item(one, words)))),
    ],
    content: name === "overview" ? overview(context) : part ? await part[3](context, signal, search) : h("p", {}, t("There is nothing here.")),
  };
}

/** @param {Context} context */
function overview(context) {
  const { guild } = context;
  const gone = () => go("/admin/guilds");
  const button = (/** @type {NameOf<Context>} */ name) => {
    /** @type {import("./admin_dialog.js").Action<Context, never>} */
    const action = GUILD_ACTIONS[name];
    return actionButton(name, action, context, name === "deleteGuild" ? gone : again);
  };
  const act = (/** @type {NameOf<Context>[]} */ ...names) => h("div", { class: "buttons" }, names.map(button));
  const channels = (/** @type {string | null} */ parent) => guild.channels.filter((channel) => channel.parent_id === parent);
  /** @type {(channel: Guild["channels"][number]) => HTMLElement} */
  const channelRow = (channel) =>
    h(
      "li",
      {},
      fromOutside(channel.name ?? t("without a name")),
      " ",
      code(channel.id),
      " ",
      h("span", { class: "muted" }, [t("type {type}", { type: channel.type }), channel.nsfw ? `, ${t("not for children")}` : ""]),
      channels(channel.id).length > 0 ? h("ul", {}, channels(channel.id).map(channelRow)) : null,
    );
  return h(
    "div",
    { class: "cards" },
    card(
      t("What it is"),
      facts(
        [t("Name"), fromOutside(guild.name)],
        [t("Owner"), accountLink(guild.owner_id, owner(guild))],
        [t("Made"), withDistance(guild.created_at)],
        [t("Members"), t("{members}, about {online} online", { members: guild.member_count, online: guild.approximate_presence_count })],
        [t("Invite code of its own"), guild.vanity_url_code ? fromOutside(guild.vanity_url_code) : ""],
        [t("Emojis"), guild.emoji_count.toLocaleString(locale())],
        [t("Stickers"), guild.sticker_count.toLocaleString(locale())],
        [t("Images"), IMAGES.filter((name) => guild[name]).map(inWords).join(", ")],
      ),
      act("renameGuild", "changeVanity", "transferGuild", "clearImages"),
    ),
    card(
      t("Settings"),
      facts(
        [t("Asked of members"), VERIFICATION_LEVELS[guild.verification_level] ?? t("level {verification_level}", { verification_level: guild.verification_level })],
        [t("Second factor for moderation"), guild.mfa_level === 0 ? t("not needed") : t("needed")],
        [t("Not for children"), guild.nsfw ? t("yes") : t("no")],
        [t("Content warning"), guild.content_warning_level === 0 ? "" : tn("level {level}: {text}", { level: guild.content_warning_level, text: fromOutside(guild.content_warning_text ?? "") })],
        [t("Switched off"), bitsOf(guild.disabled_operations, DISABLED_OPERATIONS).map(([, , words]) => words).join("; ")],
        [t("History is cut off at"), guild.message_history_cutoff ? inZone(guild.message_history_cutoff) : ""],
      ),
      act("changeGuildSettings"),
    ),
    card(
      t("Features"),
      guild.features.length === 0 ? muted(t("None.")) : h("ul", { class: "plainly" }, guild.features.map((feature) => h("li", {}, code(feature)))),
      act("changeFeatures"),
    ),
    card(t("Channels"), guild.channels.length === 0 ? muted(t("None.")) : h("ul", {}, channels(null).map(channelRow))),
    card(
      t("Roles"),
      h("ul", { class: "plainly" }, guild.roles.map((role) => h("li", {}, fromOutside(role.name), " ", code(role.id)))),
    ),
    card(t("Operation"), act("reloadGuild", "shutDownGuild", "deleteGuild")),
  );
}

/**
 * @param {Context} context
 * @param {AbortSignal} signal
 * @param {URLSearchParams} search
 */
async function members(context, signal, search) {
  const q = search.get("q") ?? "";
  const offset = numberOf(search, "offset");
  const { members: found, total } = await ask(READS.guildMembers, { params: context.params, query: { q, limit: LIMIT, offset }, signal });
  const input = h("input", { id: "members-q", name: "q", type: "search", value: q, maxlength: "100", autocomplete: "off" });
  const form = h(
    "form",
    { class: "card search", role: "search", "aria-label": t("Members") },
    h("div", { class: "field" }, h("label", { for: "members-q" }, t("Name")), input),
    h("button", { type: "submit", class: "primary" }, t("Search")),
  );
  form.addEventListener("submit", (event) => (event.preventDefault(), look({ q: input.value.trim() })));
  const row = (/** @type {import("wire").AdminGuildMember} */ member) => {
    const whole = { ...context, name: member.nick ?? member.user.username, userId: member.user.id, params: { ...context.params, user_id: member.user.id } };
    return h(
      "span",
      { class: "buttons" },
      member.is_owner
        ? tag(t("owner"))
        : [actionButton(`kickMember-${member.user.id}`, GUILD_ACTIONS.kickMember, whole, again), actionButton(`banMember-${member.user.id}`, GUILD_ACTIONS.banMember, whole, again, { label: t("Ban") })],
    );
  };
  const { addMember, banMember, liftGuildBan } = GUILD_ACTIONS;
  const nobody = { ...context, userId: null };
  return [
    form,
    h("div", { class: "buttons above" }, actionButton("addMember", addMember, context, again), actionButton("banMember", banMember, nobody, again), actionButton("liftGuildBan", liftGuildBan, context, again)),
    h("h2", { id: "results", class: "results", tabindex: "-1" }, plural(total, "{n} member", "{n} members")),
    table(
      t("Members"),
      [
        [t("Account"), (member) => [accountLink(member.user.id, member.user), member.nick ? h("div", { class: "muted from-outside" }, member.nick) : null]],
        [t("Joined"), (member) => inZone(member.joined_at)],
        [t("Invited by"), (member) => (member.inviter_id ? accountLink(member.inviter_id) : "–")],
        [t("Roles"), (member) => String(member.roles.length)],
        [t("In time-out until"), (member) => (member.communication_disabled_until ? inZone(member.communication_disabled_until) : "–")],
        [t("Actions"), row],
      ],
      found,
      { empty: t("No member fits.") },
    ),
    pager({ offset, limit: LIMIT, total, go: (to) => look({ q, offset: to || null }) }),
  ];
}

/**
 * @param {string} kind
 * @param {(asked: import("./admin_session.js").Asked) => Promise<Expression[]>} read
 * @param {import("./admin_dialog.js").Action<import("./admin_guild_actions.js").ExpressionContext, null>} purge
 * @param {string} caption
 * @param {string} empty
 * @returns {Show}
 */
function expressions(kind, read, purge, caption, empty) {
  return async (context, signal) => {
    const found = await read({ params: context.params, signal });
    const remove = (/** @type {Expression} */ one) => {
      const whole = { ...context, expression: one, params: { ...context.params, [`${kind}_id`]: one.id } };
      return actionButton(`purge-${one.id}`, purge, whole, again);
    };
    return table(
      caption,
      [
        [t("Name"), (one) => h("strong", { class: "from-outside" }, one.name)],
        ["ID", (one) => code(one.id)],
        [t("Made by"), (one) => accountLink(one.creator_id, one.creator)],
        [t("Kind"), (one) => [one.animated ? tag(t("animated")) : null, one.nsfw ? tag(t("not for children"), "off") : null, one.animated || one.nsfw ? null : "–"]],
        [t("Actions"), remove],
      ],
      found,
      { empty },
    );
  };
}

/**
 * @param {Context} context
 * @param {AbortSignal} signal
 */
async function auditLog(context, signal) {
  const next = async (/** @type {string | undefined} */ before) => {
    const page = await ask(READS.guildAuditLog, { params: context.params, query: { before, limit: ENTRIES }, signal });
    const found = page.audit_log_entries;
    return { rows: found, cursor: found.length === ENTRIES ? (found.at(-1)?.id ?? null) : null };
  };
  /** @typedef {import("wire").AuditLogEntry} Entry */
  const details = (/** @type {Entry} */ entry) => {
    /** @type {[string, Child][]} */
    const changes = (entry.changes ?? []).map((change) => [change.key, [fromOutside(plain(change.old_value) || "–"), " → ", fromOutside(plain(change.new_value) || "–")]]);
    /** @type {[string, Child][]} */
    const options = Object.entries(entry.options ?? {}).map(([name, value]) => [inWords(name), fromOutside(plain(value))]);
    if (changes.length + options.length === 0) return entry.reason ? fromOutside(entry.reason) : "–";
    return [entry.reason ? h("div", { class: "reason from-outside" }, entry.reason) : null, h("details", {}, h("summary", {}, plural(changes.length + options.length, "{n} detail", "{n} details")), facts(...changes, ...options))];
  };
  const show = (/** @type {Entry[]} */ rows) =>
    table(
      t("The community's audit log"),
      [
        [t("When"), (entry) => inZone(madeAt(entry.id))],
        [t("Who"), (entry) => accountLink(entry.user_id)],
        [t("Action"), (entry) => t("type {action_type}", { action_type: entry.action_type })],
        [t("About"), (entry) => (entry.target_id ? code(entry.target_id) : "–")],
        [t("Reason and details"), details],
      ],
      rows,
      { empty: t("There is no entry.") },
    );
  return growing(await next(undefined), show, next);
}

/**
 * @param {Context} context
 * @param {AbortSignal} signal
 */
async function archives(context, signal) {
  return [
    h("div", { class: "buttons above" }, actionButton("buildGuildArchive", GUILD_ACTIONS.buildGuildArchive, context, again)),
    await archivesOf({ subject_type: "guild", subject_id: context.guild.id }, signal),
  ];
}

/**
 * @param {Context} context
 * @param {AbortSignal} signal
 */
async function history(context, signal) {
  const next = async (/** @type {number} */ offset) => {
    const { logs, total } = await ask(READS.auditLog, { query: { target_id: context.guild.id, limit: ENTRIES, offset }, signal });
    const read = offset + logs.length;
    return { rows: logs, cursor: read < total && logs.length > 0 ? read : null };
  };
  return growing(await next(0), (rows) => entriesTable(rows, { about: false }), next);
}
