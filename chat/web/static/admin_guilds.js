// Finding guilds, and one guild with its parts.

import { archivesOf } from "./admin_archives.js";
import { owner } from "./admin_account_parts.js";
import { entriesTable } from "./admin_audit_log.js";
import { actionButton } from "./admin_dialog.js";
import { GUILD_ACTIONS } from "./admin_guild_actions.js";
import { READS } from "./admin_operations.js";
import { accountLink, card, code, facts, fromOutside, growing, guildPlace, inZone, link, madeAt, muted, pager, plain, table, tag, withDistance } from "./admin_parts.js";
import { again, go, look, results } from "./admin_places.js";
import { DISABLED_OPERATIONS, VERIFICATION_LEVELS, bitsOf, inWords } from "./admin_registries.js";
import { ask, may } from "./admin_session.js";
import { h } from "./dom.js";
import { locale, plural, t, tn } from "./spoken.js";

const LIMIT = 50;
const ENTRIES = 100;
const NAMES = ["q", "sort_by", "sort_order"];

const numberOf = (search, name) => Math.max(0, Number.parseInt(search.get(name) ?? "0", 10) || 0);

export async function showGuilds({ search, signal }) {
  const wanted = Object.fromEntries(NAMES.map((name) => [name, search.get(name) ?? ""]));
  const offset = numberOf(search, "offset");
  const found = async () => {
    const { guilds, total } = await ask(READS.guilds, { query: { ...wanted, limit: LIMIT, offset }, signal });
    return [
      h("h2", { id: "results", class: "results", tabindex: "-1" }, plural(total, "{n} guild", "{n} guilds")),
      table(
        t("Guilds"),
        [
          [t("Guild"), (guild) => link(guildPlace(guild.id), fromOutside(guild.name))],
          ["ID", (guild) => code(guild.id)],
          [t("Owner"), (guild) => accountLink(guild.owner_id, owner(guild))],
          [t("Members"), (guild) => guild.member_count.toLocaleString(locale())],
          [t("Features"), (guild) => (guild.features.length === 0 ? "–" : plural(guild.features.length, "{n} feature", "{n} features"))],
        ],
        guilds,
        { empty: t("No guild fits.") },
      ),
      pager({ offset, limit: LIMIT, total, go: (to) => look({ ...wanted, offset: to || null }) }),
    ];
  };
  return { title: t("Guilds"), content: [form(wanted), h("div", {}, await results(found))] };
}

function form(wanted) {
  const select = (name, label, options) =>
    h(
      "div",
      { class: "field" },
      h("label", { for: `guilds-${name}` }, label),
      h("select", { id: `guilds-${name}`, name }, options.map(([value, words]) => h("option", { value, selected: value === wanted[name] }, words))),
    );
  const element = h(
    "form",
    { class: "card search", role: "search", "aria-label": t("Guilds") },
    h(
      "div",
      { class: "field" },
      h("label", { for: "guilds-q" }, t("Name, invite code or ID")),
      h("input", { id: "guilds-q", name: "q", type: "search", value: wanted.q, maxlength: "1024", autocomplete: "off" }),
    ),
    select("sort_by", t("Sorted by"), [["", t("when it was made")], ["name", t("name")], ["member_count", t("members")]]),
    select("sort_order", t("Order"), [["", t("falling")], ["asc", t("rising")]]),
    h("button", { type: "submit", class: "primary" }, t("Search")),
  );
  element.addEventListener("submit", (event) => {
    event.preventDefault();
    go("/admin/guilds", Object.fromEntries(NAMES.map((name) => [name, element.elements[name].value.trim()])));
  });
  return element;
}

// [name in the address, words, the operation that it reads, what shows it]
const PARTS = [
  ["members", t("Members"), READS.guildMembers, members],
  ["emojis", t("Emojis"), READS.guildEmojis, expressions("emoji", READS.guildEmojis, GUILD_ACTIONS.purgeEmoji, t("Emojis"), t("The guild has no emoji."))],
  ["stickers", t("Stickers"), READS.guildStickers, expressions("sticker", READS.guildStickers, GUILD_ACTIONS.purgeSticker, t("Stickers"), t("The guild has no sticker."))],
  ["audit-log", t("Its audit log"), READS.guildAuditLog, auditLog],
  ["archives", t("Archives"), READS.archives, archives],
  ["history", t("History"), READS.auditLog, history],
];

// The guild that is looked at, so that going through its parts does not record a reading each time.
let kept = null;

export async function showGuild({ params, search, signal }) {
  const id = params.guild_id;
  const name = params.part ?? "overview";
  if (kept?.id !== id || name === "overview") kept = (await ask(READS.guild, { params: { guild_id: id }, signal })).guild;
  const guild = kept;
  const context = { params: { guild_id: id }, guild };
  const parts = PARTS.filter(([, , read]) => may(read));
  const part = parts.find(([one]) => one === name);
  const item = (one, words) =>
    h("li", {}, h("a", { href: one === "overview" ? guildPlace(id) : `${guildPlace(id)}/${one}`, "aria-current": one === name ? "page" : null }, words));
  return {
    title: guild.name,
    lead: [
      h("p", { class: "identity" }, code(id), guild.features.filter((feature) => feature.startsWith("UNAVAILABLE")).map((feature) => tag(inWords(feature.toLowerCase()), "off"))),
      h("nav", { class: "tabs", "aria-label": t("Guild") }, h("ul", {}, item("overview", t("Overview")), parts.map(([one, words]) => item(one, words)))),
    ],
    content: name === "overview" ? overview(context) : part ? await part[3](context, signal, search) : h("p", {}, t("There is nothing here.")),
  };
}

function overview(context) {
  const { guild } = context;
  const gone = () => go("/admin/guilds");
  const act = (...names) =>
    h("div", { class: "buttons" }, names.map((name) => actionButton(name, GUILD_ACTIONS[name], context, name === "deleteGuild" ? gone : again)));
  const channels = (type) => guild.channels.filter((channel) => channel.parent_id === type);
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
        [t("Images"), ["icon", "banner", "splash", "embed_splash"].filter((name) => guild[name]).map(inWords).join(", ")],
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
  const row = (member) => {
    const whole = { ...context, name: member.nick ?? member.user.username, userId: member.user.id, params: { ...context.params, user_id: member.user.id } };
    return h(
      "span",
      { class: "buttons" },
      member.is_owner
        ? tag(t("owner"))
        : [actionButton(`kickMember-${member.user.id}`, GUILD_ACTIONS.kickMember, whole, again), actionButton(`banMember-${member.user.id}`, GUILD_ACTIONS.banMember, whole, again, { label: t("Ban") })],
    );
  };
  const act = (...names) => names.map((name) => actionButton(name, GUILD_ACTIONS[name], { ...context, userId: null }, again));
  return [
    form,
    h("div", { class: "buttons above" }, act("addMember", "banMember", "liftGuildBan")),
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

function expressions(kind, read, purge, caption, empty) {
  return async (context, signal) => {
    const found = Object.values(await ask(read, { params: context.params, signal }))[0];
    const remove = (one) => {
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

async function auditLog(context, signal) {
  const next = async (before) => {
    const page = await ask(READS.guildAuditLog, { params: context.params, query: { before, limit: ENTRIES }, signal });
    const found = page.audit_log_entries;
    return { rows: found, cursor: found.length === ENTRIES ? found.at(-1).id : null };
  };
  const details = (entry) => {
    const changes = (entry.changes ?? []).map((change) => [change.key, [fromOutside(plain(change.old_value) || "–"), " → ", fromOutside(plain(change.new_value) || "–")]]);
    const options = Object.entries(entry.options ?? {}).map(([name, value]) => [inWords(name), fromOutside(plain(value))]);
    if (changes.length + options.length === 0) return entry.reason ? fromOutside(entry.reason) : "–";
    return [entry.reason ? h("div", { class: "reason from-outside" }, entry.reason) : null, h("details", {}, h("summary", {}, plural(changes.length + options.length, "{n} detail", "{n} details")), facts(...changes, ...options))];
  };
  const show = (rows) =>
    table(
      t("The guild's audit log"),
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

async function archives(context, signal) {
  return [
    h("div", { class: "buttons above" }, actionButton("buildGuildArchive", GUILD_ACTIONS.buildGuildArchive, context, again)),
    await archivesOf({ subject_type: "guild", subject_id: context.guild.id }, signal),
  ];
}

async function history(context, signal) {
  const next = async (offset) => {
    const { logs, total } = await ask(READS.auditLog, { query: { target_id: context.guild.id, limit: ENTRIES, offset }, signal });
    const read = offset + logs.length;
    return { rows: logs, cursor: read < total && logs.length > 0 ? read : null };
  };
  return growing(await next(0), (rows) => entriesTable(rows, { about: false }), next);
}
