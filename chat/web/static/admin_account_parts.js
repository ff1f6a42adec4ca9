// What is around an account, part by part. Each part is an operation that reads, and the actions that belong to it.

import { fill, h } from "../client/base/dom.js";
import { ACCOUNT_ACTIONS } from "./admin_account_actions.js";
import { entriesTable } from "./admin_audit_log.js";
import { archivesOf } from "./admin_archives.js";
import { actionButton } from "./admin_dialog.js";
import { orderedJob } from "./admin_jobs.js";
import { READS } from "./admin_operations.js";
import { accountLink, card, code, facts, fromOutside, growing, guildPlace, inZone, link, muted, table, tag, withDistance } from "./admin_parts.js";
import { again } from "./admin_places.js";
import { RELATIONSHIPS, inWords } from "./admin_registries.js";
import { ask, may } from "./admin_session.js";
import { within } from "./dom.js";
import { locale, plural, t } from "./spoken.js";

const PAGE = 200;
const CONVERSATIONS = 50;
const CHANGES = 50;
const ENTRIES = 100;

/** @typedef {import("../client/base/dom.js").Child} Child */
/** @typedef {import("./admin_account.js").Context} Context */
/** @typedef {import("./admin_account.js").Then} Then */
/** @typedef {(context: Context, then: Then, signal: AbortSignal) => Promise<Child>} Show */
/**
 * @typedef {[name: string, words: string, reads: {acls: import("./admin_session.js").Acls} | null, show: Show,
 *   isThere?: (context: Context) => boolean]} Part Its name in the address, its words, the operation that it reads, what
 *   shows it, whether the instance has it.
 */

/** @type {Part[]} */
const PARTS = [
  ["sessions", t("Sessions"), READS.sessions, sessions],
  ["passkeys", t("Passkeys"), READS.passkeys, passkeys],
  ["guilds", t("Communities"), READS.guildsOfAccount, guilds],
  ["conversations", t("Conversations"), READS.conversations, conversations],
  ["relationships", t("Relationships"), READS.relationships, relationships],
  ["applications", t("Applications"), READS.applications, applications],
  ["messages", t("Messages"), null, messages],
  ["archives", t("Archives"), READS.archives, archives],
  ["purchases", t("Purchases"), READS.purchases, purchases, ({ instance }) => instance.hasPurchases],
  ["changes", t("Changes"), READS.changeLog, changes],
  ["history", t("History"), READS.auditLog, history],
];

/**
 * The parts that this instance has and the caller may read.
 * @param {Context} context
 */
export function partsFor(context) {
  return PARTS.filter(([, , read, , isThere]) => (read === null || may(read)) && (isThere?.(context) ?? true)).map(([name, words, , show]) => ({ name, words, show }));
}

/**
 * @param {Context} context
 * @param {Then} then
 * @param {AbortSignal} signal
 */
async function sessions(context, then, signal) {
  const { sessions: found } = await ask(READS.sessions, { params: context.params, signal });
  return card(
    t("Sessions"),
    h("div", { class: "buttons above" }, actionButton("terminateSessions", ACCOUNT_ACTIONS.terminateSessions, context, then)),
    table(
      t("Sessions"),
      [
        [t("State"), (one) => (one.deleted_at ? [tag(t("ended"), "off"), " ", inZone(one.deleted_at)] : tag(t("active")))],
        [t("Begun"), (one) => inZone(one.created_at)],
        [t("Last used"), (one) => withDistance(one.approx_last_used_at)],
        [t("From"), (one) => [one.client_ip === "" ? "–" : code(one.client_ip), one.client_ip_reverse ? h("div", { class: "muted from-outside" }, one.client_ip_reverse) : null].filter(Boolean)],
        [t("Place"), (one) => (one.client_location ? fromOutside(one.client_location) : "–")],
        [t("Client"), (one) => fromOutside([one.client_os, one.client_platform].filter(Boolean).join(", ") || "–")],
        [t("Hash of the session"), (one) => h("code", { class: "small" }, one.session_id_hash)],
      ],
      found,
      { empty: t("The account has never been signed in.") },
    ),
  );
}

/**
 * @param {Context} context
 * @param {Then} then
 * @param {AbortSignal} signal
 */
async function passkeys(context, then, signal) {
  const found = await ask(READS.passkeys, { params: context.params, signal });
  const remove = (/** @type {import("wire").WebauthnCredential} */ passkey) => {
    const whole = { ...context, passkey, params: { ...context.params, credential: passkey.id } };
    return actionButton(`deletePasskey-${passkey.id}`, ACCOUNT_ACTIONS.deletePasskey, whole, then);
  };
  return card(
    t("Passkeys"),
    table(
      t("Passkeys"),
      [
        [t("Name"), (one) => h("strong", { class: "from-outside" }, one.name)],
        [t("Made"), (one) => inZone(one.created_at)],
        [t("Last used"), (one) => (one.last_used_at ? withDistance(one.last_used_at) : t("never"))],
        ["ID", (one) => h("code", { class: "small" }, one.id)],
        [t("Actions"), remove],
      ],
      found,
      { empty: t("The account has no passkey.") },
    ),
  );
}

/**
 * @param {Context} context
 * @param {Then} _
 * @param {AbortSignal} signal
 */
async function guilds(context, _, signal) {
  const next = async (/** @type {string | undefined} */ after) => {
    const { guilds: found } = await ask(READS.guildsOfAccount, { params: context.params, query: { after, limit: PAGE, with_counts: "true" }, signal });
    return { rows: found, cursor: found.length === PAGE ? (found.at(-1)?.id ?? null) : null };
  };
  const show = (/** @type {import("wire").AdminGuild[]} */ rows) =>
    table(
      t("Communities"),
      [
        [t("Community"), (guild) => link(guildPlace(guild.id), fromOutside(guild.name))],
        ["ID", (guild) => code(guild.id)],
        [t("Owner"), (guild) => (guild.owner_id === context.user.id ? tag(t("this account")) : accountLink(guild.owner_id, owner(guild)))],
        [t("Members"), (guild) => t("{members}, {online} online", { members: guild.member_count, online: guild.approximate_presence_count ?? 0 })],
        [t("Features"), (guild) => (guild.features.length === 0 ? "–" : h("details", {}, h("summary", {}, plural(guild.features.length, "{n} feature", "{n} features")), h("ul", {}, guild.features.map((name) => h("li", {}, code(name))))))],
      ],
      rows,
      { empty: t("The account is in no community.") },
    );
  return card(t("Communities"), growing(await next(undefined), show, next));
}

/** @param {{owner_username: string | null, owner_discriminator: string | null}} thing */
export function owner(thing) {
  return thing.owner_username ? { username: thing.owner_username, discriminator: thing.owner_discriminator } : null;
}

/**
 * @param {Context} context
 * @param {Then} _
 * @param {AbortSignal} signal
 */
async function conversations(context, _, signal) {
  const read = (/** @type {import("./admin_session.js").Query} */ query) => ask(READS.conversations, { params: context.params, query, signal });
  const next = async (/** @type {string | undefined} */ before) => {
    const { channels } = await read({ type: "dm", before, limit: CONVERSATIONS });
    return { rows: channels, cursor: channels.length === CONVERSATIONS ? (channels.at(-1)?.channel_id ?? null) : null };
  };
  const [first, groups] = await Promise.all([next(undefined), read({ type: "group_dm" })]);
  /** @typedef {import("wire").AdminPrivateChannel} Channel */
  const people = (/** @type {Channel} */ channel) => {
    const others = channel.recipient_ids.filter((id) => id !== context.user.id);
    if (others.length === 0) return "–";
    const known = (/** @type {string} */ id) => channel.recipients.find((one) => one.id === id);
    return h("ul", { class: "plainly" }, others.map((id) => h("li", {}, accountLink(id, known(id)))));
  };
  /** @type {[string, (channel: Channel) => Child][]} */
  const columns = [
    [t("With"), people],
    [t("Open in the client"), (channel) => (channel.is_open ? t("yes") : t("no"))],
    [t("Last message"), (channel) => (channel.last_message_id ? code(channel.last_message_id) : t("none"))],
    ["ID", (channel) => code(channel.channel_id)],
  ];
  /** @type {[string, (channel: Channel) => Child][]} */
  const named = [[t("Group"), (channel) => fromOutside(channel.name ?? t("without a name"))], ...columns.slice(0, 1), [t("Owner"), (channel) => accountLink(channel.owner_id)], ...columns.slice(1)];
  return [
    card(t("Conversations of two"), growing(first, (rows) => table(t("Conversations of two"), columns, rows), next)),
    card(t("Groups"), table(t("Groups"), named, groups.channels)),
  ];
}

/**
 * @param {Context} context
 * @param {Then} then
 * @param {AbortSignal} signal
 */
async function relationships(context, then, signal) {
  const found = await ask(READS.relationships, { params: context.params, signal });
  const remove = (/** @type {string} */ category) => (/** @type {import("wire").AdminRelationship} */ one) => {
    const targetName = one.target ? `${one.target.username}#${one.target.discriminator}` : one.target_user_id;
    const whole = { ...context, category, targetName, params: { ...context.params, target_user_id: one.target_user_id } };
    return actionButton(`removeRelationship-${category}-${one.target_user_id}`, ACCOUNT_ACTIONS.removeRelationship, whole, then);
  };
  return [
    h("div", { class: "buttons above" }, actionButton("clearRelationships", ACCOUNT_ACTIONS.clearRelationships, context, then)),
    RELATIONSHIPS.map(([category, name, words]) =>
      card(
        words,
        table(
          words,
          [
            [t("Account"), (one) => accountLink(one.target_user_id, one.target)],
            [t("Nickname"), (one) => (one.nickname ? fromOutside(one.nickname) : "–")],
            [t("Since"), (one) => (one.since ? inZone(one.since) : "–")],
            [t("Actions"), remove(category)],
          ],
          found[name],
        ),
      ),
    ),
  ];
}

/**
 * @param {Context} context
 * @param {Then} then
 * @param {AbortSignal} signal
 */
async function applications(context, then, signal) {
  const { applications: found } = await ask(READS.applications, { params: context.params, signal });
  if (found.length === 0) return card(t("Applications"), muted(t("The account has made no application.")));
  const bot = (/** @type {import("wire").AdminApplication} */ one) =>
    one.bot_username === null ? null : { username: one.bot_username, discriminator: one.bot_discriminator };
  const transfer = (/** @type {import("wire").AdminApplication} */ one) => {
    const whole = { ...context, application: one, params: { application_id: one.id } };
    return actionButton(`transferApplication-${one.id}`, ACCOUNT_ACTIONS.transferApplication, whole, then);
  };
  return found.map((one) =>
    h(
      "section",
      { class: "card", "aria-label": one.name },
      h("h2", { class: "from-outside" }, one.name),
      facts(
        ["ID", code(one.id)],
        [t("Bot"), one.bot_user_id ? accountLink(one.bot_user_id, bot(one)) : t("none")],
        [t("Anybody may add the bot"), one.bot_is_public ? t("yes") : t("no")],
        [t("Adding it asks for a code grant"), one.bot_require_code_grant ? t("yes") : t("no")],
        [t("Bot token"), one.has_bot_token ? [code(one.bot_token_preview ?? ""), " ", one.bot_token_created_at ? inZone(one.bot_token_created_at) : ""] : t("none")],
        [t("Client secret"), one.has_client_secret ? [t("set"), " ", one.client_secret_created_at ? inZone(one.client_secret_created_at) : ""] : t("none")],
        [t("Sends people back to"), one.oauth2_redirect_uris.length === 0 ? "" : h("ul", { class: "plainly" }, one.oauth2_redirect_uris.map((uri) => h("li", {}, fromOutside(uri))))],
        [t("Version"), String(one.version)],
      ),
      h("div", { class: "buttons" }, transfer(one)),
    ),
  );
}

/**
 * Counting comes before deleting: what is asked in front of the button names the numbers.
 * @param {Context} context
 * @param {Then} then
 * @param {AbortSignal} signal
 */
async function messages(context, then, signal) {
  const job = h("div", {});
  const counted = h("div", {});
  const row = h("div", { class: "buttons" });
  const follow = async (/** @type {{job_id?: string | null}} */ answer) => {
    if (answer.job_id) fill(job, await orderedJob(answer.job_id, signal));
  };
  const tell = (/** @type {import("./admin_account_actions.js").Counted} */ answer) => {
    const { message_count: messages, channel_count: channels } = answer;
    fill(counted, facts([t("Messages"), messages.toLocaleString(locale())], [t("Channels, at most"), channels.toLocaleString(locale())]));
    draw(answer);
    within(row, "[data-action=deleteMessages]", HTMLElement).focus();
  };
  const draw = (/** @type {import("./admin_account_actions.js").Counted | null} */ found) => {
    const whole = { ...context, counted: found };
    const { countMessages, deleteMessages, shredMessages, cancelMessageDeletion } = ACCOUNT_ACTIONS;
    fill(
      row,
      actionButton("countMessages", countMessages, whole, tell),
      actionButton("deleteMessages", deleteMessages, whole, follow),
      actionButton("shredMessages", shredMessages, whole, follow),
      actionButton("cancelMessageDeletion", cancelMessageDeletion, whole, then),
    );
  };
  draw(null);
  const { pending_bulk_message_deletion_at: pending } = context.user;
  return [
    card(
      t("Messages"),
      facts([t("Their deletion by the holder's wish"), pending ? withDistance(pending) : t("not scheduled")]),
      counted,
      row,
    ),
    job,
  ];
}

/**
 * @param {Context} context
 * @param {Then} _
 * @param {AbortSignal} signal
 */
async function archives(context, _, signal) {
  return [
    h("div", { class: "buttons above" }, actionButton("buildArchive", ACCOUNT_ACTIONS.buildArchive, context, () => again())),
    card(t("Archives"), await archivesOf({ subject_type: "user", subject_id: context.user.id }, signal)),
  ];
}

/**
 * @param {Context} context
 * @param {Then} then
 * @param {AbortSignal} signal
 */
async function purchases(context, then, signal) {
  const { purchases: found } = await ask(READS.purchases, { params: context.params, signal });
  const time = (/** @type {string | null} */ value) => (value ? inZone(value) : "");
  return [
    h("div", { class: "buttons above" }, actionButton("refreshPurchases", ACCOUNT_ACTIONS.refreshPurchases, context, then)),
    found.length === 0 ? card(t("Purchases"), muted(t("The account has bought nothing in a store."))) : null,
    found.map((one) =>
      h(
        "section",
        { class: "card", "aria-label": one.product_id },
        h("h2", { class: "from-outside" }, one.product_id),
        h(
          "p",
          { class: "tags" },
          tag(inWords(one.state)),
          one.entitled ? tag(t("gives premium")) : tag(t("gives nothing"), "off"),
          one.superseded ? tag(t("superseded"), "off") : null,
          one.environment === "sandbox" ? tag(t("sandbox")) : null,
        ),
        facts(
          ["ID", code(one.id)],
          [t("Store"), inWords(one.provider)],
          [t("Kind"), inWords(one.kind)],
          [t("Slot"), fromOutside(one.slot)],
          [t("App"), code(one.app_id)],
          [t("Base plan"), one.base_plan_id ? code(one.base_plan_id) : ""],
          [t("Latest transaction"), one.latest_transaction_id ? code(one.latest_transaction_id) : ""],
          [t("Ownership"), one.ownership_type ?? ""],
          [t("State at the store"), one.store_state ?? ""],
          [t("Expires"), time(one.expires_at)],
          [t("Grace ends"), time(one.grace_ends_at)],
          [t("Renews by itself"), one.auto_renew === null ? "" : one.auto_renew ? t("yes") : t("no")],
          [t("Started"), time(one.started_at)],
          [t("Purchased"), time(one.purchased_at)],
          [t("Revoked"), time(one.revoked_at)],
          [t("Why revoked"), one.revocation_reason ?? ""],
          [t("Acknowledged"), one.acknowledged ? t("yes") : t("no")],
          [t("Gift code"), one.gift_code ? code(one.gift_code) : ""],
          [t("Linked"), time(one.bound_at)],
          [t("Last heard of"), time(one.last_event_at)],
          [t("Last read from the store"), time(one.synced_at)],
          [t("Made"), time(one.created_at)],
          [t("Changed"), time(one.updated_at)],
        ),
      ),
    ),
  ].flat();
}

/**
 * @param {Context} context
 * @param {Then} _
 * @param {AbortSignal} signal
 */
async function changes(context, _, signal) {
  const next = async (/** @type {string | undefined} */ token) => {
    const { entries, next_page_token: cursor } = await ask(READS.changeLog, { params: context.params, query: { limit: CHANGES, page_token: token }, signal });
    return { rows: entries, cursor };
  };
  /** @type {Record<string, string>} */
  const words = { email: t("Email address"), service_tag: t("Tag") };
  const show = (/** @type {import("wire").AdminUserChangeLogEntry[]} */ rows) =>
    table(
      t("Changes"),
      [
        [t("When"), (entry) => inZone(entry.event_at)],
        [t("What"), (entry) => words[entry.field] ?? inWords(entry.field)],
        [t("Before"), (entry) => fromOutside(entry.old_value ?? "–")],
        [t("After"), (entry) => fromOutside(entry.new_value ?? "–")],
        [t("By"), (entry) => (entry.actor_user_id ? accountLink(entry.actor_user_id) : t("the holder"))],
        [t("Reason"), (entry) => (entry.reason ? inWords(entry.reason) : "–")],
      ],
      rows,
      { empty: t("Neither name nor address has changed.") },
    );
  return card(t("Changes of name and address"), growing(await next(undefined), show, next));
}

/**
 * @param {Context} context
 * @param {Then} _
 * @param {AbortSignal} signal
 */
async function history(context, _, signal) {
  const next = async (/** @type {number} */ offset) => {
    const { logs, total } = await ask(READS.auditLog, { query: { target_id: context.user.id, limit: ENTRIES, offset }, signal });
    const read = offset + logs.length;
    return { rows: logs, cursor: read < total && logs.length > 0 ? read : null };
  };
  return card(t("What administrators did"), growing(await next(0), (rows) => entriesTable(rows, { about: false }), next));
}
