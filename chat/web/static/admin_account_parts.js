// What is around an account, part by part. Each part is an operation that reads, and the actions that belong to it.

import { ACCOUNT_ACTIONS } from "./admin_account_actions.js";
import { entriesTable } from "./admin_audit_log.js";
import { archivesOf } from "./admin_archives.js";
import { actionButton } from "./admin_dialog.js";
import { orderedJob } from "./admin_jobs.js";
import { READS } from "./admin_operations.js";
import { accountLink, card, code, count, facts, fromOutside, growing, guildPlace, inZone, link, muted, table, tag, withDistance } from "./admin_parts.js";
import { again } from "./admin_places.js";
import { RELATIONSHIPS, inWords } from "./admin_registries.js";
import { ask, may } from "./admin_session.js";
import { fill, h } from "./dom.js";

const PAGE = 200;
const CONVERSATIONS = 50;
const CHANGES = 50;
const ENTRIES = 100;

const MESSAGE_ACTIONS = ["countMessages", "deleteMessages", "shredMessages", "cancelMessageDeletion"];

// [name in the address, words, the operation that it reads, what shows it, whether the instance has it]
const PARTS = [
  ["sessions", "Sessions", READS.sessions, sessions],
  ["passkeys", "Passkeys", READS.passkeys, passkeys],
  ["guilds", "Guilds", READS.guildsOfAccount, guilds],
  ["conversations", "Conversations", READS.conversations, conversations],
  ["relationships", "Relationships", READS.relationships, relationships],
  ["applications", "Applications", READS.applications, applications],
  ["messages", "Messages", null, messages],
  ["archives", "Archives", READS.archives, archives],
  ["purchases", "Purchases", READS.purchases, purchases, ({ instance }) => instance.hasPurchases],
  ["changes", "Changes", READS.changeLog, changes],
  ["history", "History", READS.auditLog, history],
];

// The parts that this instance has and the caller may read.
export function partsFor(context) {
  return PARTS.filter(([, , read, , isThere]) => (read === null || may(read)) && (isThere?.(context) ?? true)).map(([name, words, , show]) => ({ name, words, show }));
}

async function sessions(context, then, signal) {
  const { sessions: found } = await ask(READS.sessions, { params: context.params, signal });
  return card(
    "Sessions",
    h("div", { class: "buttons above" }, actionButton("terminateSessions", ACCOUNT_ACTIONS.terminateSessions, context, then)),
    table(
      "Sessions",
      [
        ["State", (one) => (one.deleted_at ? [tag("ended", "off"), " ", inZone(one.deleted_at)] : tag("active"))],
        ["Begun", (one) => inZone(one.created_at)],
        ["Last used", (one) => withDistance(one.approx_last_used_at)],
        ["From", (one) => [one.client_ip === "" ? "–" : code(one.client_ip), one.client_ip_reverse ? h("div", { class: "muted from-outside" }, one.client_ip_reverse) : null].filter(Boolean)],
        ["Place", (one) => (one.client_location ? fromOutside(one.client_location) : "–")],
        ["Client", (one) => fromOutside([one.client_os, one.client_platform].filter(Boolean).join(", ") || "–")],
        ["Hash of the session", (one) => h("code", { class: "small" }, one.session_id_hash)],
      ],
      found,
      { empty: "The account has never been signed in." },
    ),
  );
}

async function passkeys(context, then, signal) {
  const found = await ask(READS.passkeys, { params: context.params, signal });
  const remove = (passkey) => {
    const whole = { ...context, passkey, params: { ...context.params, credential: passkey.id } };
    return actionButton(`deletePasskey-${passkey.id}`, ACCOUNT_ACTIONS.deletePasskey, whole, then);
  };
  return card(
    "Passkeys",
    table(
      "Passkeys",
      [
        ["Name", (one) => h("strong", { class: "from-outside" }, one.name)],
        ["Made", (one) => inZone(one.created_at)],
        ["Last used", (one) => (one.last_used_at ? withDistance(one.last_used_at) : "never")],
        ["ID", (one) => h("code", { class: "small" }, one.id)],
        ["Actions", remove],
      ],
      found,
      { empty: "The account has no passkey." },
    ),
  );
}

async function guilds(context, _, signal) {
  const next = async (after) => {
    const { guilds: found } = await ask(READS.guildsOfAccount, { params: context.params, query: { after, limit: PAGE, with_counts: "true" }, signal });
    return { rows: found, cursor: found.length === PAGE ? found.at(-1).id : null };
  };
  const show = (rows) =>
    table(
      "Guilds",
      [
        ["Guild", (guild) => link(guildPlace(guild.id), fromOutside(guild.name))],
        ["ID", (guild) => code(guild.id)],
        ["Owner", (guild) => (guild.owner_id === context.user.id ? tag("this account") : accountLink(guild.owner_id, owner(guild)))],
        ["Members", (guild) => `${guild.member_count.toLocaleString()}, ${(guild.approximate_presence_count ?? 0).toLocaleString()} online`],
        ["Features", (guild) => (guild.features.length === 0 ? "–" : h("details", {}, h("summary", {}, count(guild.features.length, "feature")), h("ul", {}, guild.features.map((name) => h("li", {}, code(name))))))],
      ],
      rows,
      { empty: "The account is in no guild." },
    );
  return card("Guilds", growing(await next(undefined), show, next));
}

export function owner(thing) {
  return thing.owner_username ? { username: thing.owner_username, discriminator: thing.owner_discriminator } : null;
}

async function conversations(context, _, signal) {
  const read = (query) => ask(READS.conversations, { params: context.params, query, signal });
  const next = async (before) => {
    const { channels } = await read({ type: "dm", before, limit: CONVERSATIONS });
    return { rows: channels, cursor: channels.length === CONVERSATIONS ? channels.at(-1).channel_id : null };
  };
  const [first, groups] = await Promise.all([next(undefined), read({ type: "group_dm" })]);
  const people = (channel) => {
    const others = channel.recipient_ids.filter((id) => id !== context.user.id);
    if (others.length === 0) return "–";
    const known = (id) => channel.recipients.find((one) => one.id === id);
    return h("ul", { class: "plainly" }, others.map((id) => h("li", {}, accountLink(id, known(id)))));
  };
  const columns = [
    ["With", people],
    ["Open in the client", (channel) => (channel.is_open ? "yes" : "no")],
    ["Last message", (channel) => (channel.last_message_id ? code(channel.last_message_id) : "none")],
    ["ID", (channel) => code(channel.channel_id)],
  ];
  const named = [["Group", (channel) => fromOutside(channel.name ?? "without a name")], ...columns.slice(0, 1), ["Owner", (channel) => accountLink(channel.owner_id)], ...columns.slice(1)];
  return [
    card("Conversations of two", growing(first, (rows) => table("Conversations of two", columns, rows), next)),
    card("Groups", table("Groups", named, groups.channels)),
  ];
}

async function relationships(context, then, signal) {
  const found = await ask(READS.relationships, { params: context.params, signal });
  const remove = (category) => (one) => {
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
            ["Account", (one) => accountLink(one.target_user_id, one.target)],
            ["Nickname", (one) => (one.nickname ? fromOutside(one.nickname) : "–")],
            ["Since", (one) => (one.since ? inZone(one.since) : "–")],
            ["Actions", remove(category)],
          ],
          found[name],
        ),
      ),
    ),
  ];
}

async function applications(context, then, signal) {
  const { applications: found } = await ask(READS.applications, { params: context.params, signal });
  if (found.length === 0) return card("Applications", muted("The account has made no application."));
  const bot = (one) => ({ username: one.bot_username, discriminator: one.bot_discriminator });
  const transfer = (one) => {
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
        ["Bot", one.bot_user_id ? accountLink(one.bot_user_id, one.bot_username ? bot(one) : null) : "none"],
        ["Anybody may add the bot", one.bot_is_public ? "yes" : "no"],
        ["Adding it asks for a code grant", one.bot_require_code_grant ? "yes" : "no"],
        ["Bot token", one.has_bot_token ? [code(one.bot_token_preview ?? ""), " ", one.bot_token_created_at ? inZone(one.bot_token_created_at) : ""] : "none"],
        ["Client secret", one.has_client_secret ? ["set ", one.client_secret_created_at ? inZone(one.client_secret_created_at) : ""] : "none"],
        ["Sends people back to", one.oauth2_redirect_uris.length === 0 ? "" : h("ul", { class: "plainly" }, one.oauth2_redirect_uris.map((uri) => h("li", {}, fromOutside(uri))))],
        ["Version", String(one.version)],
      ),
      h("div", { class: "buttons" }, transfer(one)),
    ),
  );
}

// Counting comes before deleting: what is asked in front of the button names the numbers.
async function messages(context, then, signal) {
  const job = h("div", {});
  const counted = h("div", {});
  const row = h("div", { class: "buttons" });
  const follow = async (answer) => {
    if (answer.job_id) fill(job, await orderedJob(answer.job_id, signal));
  };
  const draw = (found) => {
    const whole = { ...context, counted: found };
    const after = {
      countMessages: (answer) => {
        fill(counted, facts(["Messages", answer.message_count.toLocaleString()], ["Channels, at most", answer.channel_count.toLocaleString()]));
        draw(answer);
        row.querySelector("[data-action=deleteMessages]").focus();
      },
      deleteMessages: follow,
      shredMessages: follow,
      cancelMessageDeletion: then,
    };
    fill(row, MESSAGE_ACTIONS.map((name) => actionButton(name, ACCOUNT_ACTIONS[name], whole, after[name])));
  };
  draw(null);
  const { pending_bulk_message_deletion_at: pending } = context.user;
  return [
    card(
      "Messages",
      facts(["Their deletion by the holder's wish", pending ? withDistance(pending) : "not scheduled"]),
      counted,
      row,
    ),
    job,
  ];
}

async function archives(context, _, signal) {
  return [
    h("div", { class: "buttons above" }, actionButton("buildArchive", ACCOUNT_ACTIONS.buildArchive, context, () => again())),
    card("Archives", await archivesOf({ subject_type: "user", subject_id: context.user.id }, signal)),
  ];
}

async function purchases(context, then, signal) {
  const { purchases: found } = await ask(READS.purchases, { params: context.params, signal });
  const time = (value) => (value ? inZone(value) : "");
  return [
    h("div", { class: "buttons above" }, actionButton("refreshPurchases", ACCOUNT_ACTIONS.refreshPurchases, context, then)),
    found.length === 0 ? card("Purchases", muted("The account has bought nothing in a store.")) : null,
    found.map((one) =>
      h(
        "section",
        { class: "card", "aria-label": one.product_id },
        h("h2", { class: "from-outside" }, one.product_id),
        h(
          "p",
          { class: "tags" },
          tag(inWords(one.state)),
          one.entitled ? tag("gives premium") : tag("gives nothing", "off"),
          one.superseded ? tag("superseded", "off") : null,
          one.environment === "sandbox" ? tag("sandbox") : null,
        ),
        facts(
          ["ID", code(one.id)],
          ["Store", inWords(one.provider)],
          ["Kind", inWords(one.kind)],
          ["Slot", fromOutside(one.slot)],
          ["App", code(one.app_id)],
          ["Base plan", one.base_plan_id ? code(one.base_plan_id) : ""],
          ["Latest transaction", one.latest_transaction_id ? code(one.latest_transaction_id) : ""],
          ["Ownership", one.ownership_type ?? ""],
          ["State at the store", one.store_state ?? ""],
          ["Expires", time(one.expires_at)],
          ["Grace ends", time(one.grace_ends_at)],
          ["Renews by itself", one.auto_renew === null ? "" : one.auto_renew ? "yes" : "no"],
          ["Started", time(one.started_at)],
          ["Purchased", time(one.purchased_at)],
          ["Revoked", time(one.revoked_at)],
          ["Why revoked", one.revocation_reason ?? ""],
          ["Acknowledged", one.acknowledged ? "yes" : "no"],
          ["Gift code", one.gift_code ? code(one.gift_code) : ""],
          ["Linked", time(one.bound_at)],
          ["Last heard of", time(one.last_event_at)],
          ["Last read from the store", time(one.synced_at)],
          ["Made", time(one.created_at)],
          ["Changed", time(one.updated_at)],
        ),
      ),
    ),
  ].flat();
}

async function changes(context, _, signal) {
  const next = async (token) => {
    const { entries, next_page_token: cursor } = await ask(READS.changeLog, { params: context.params, query: { limit: CHANGES, page_token: token }, signal });
    return { rows: entries, cursor };
  };
  const words = { email: "Email address", service_tag: "Tag" };
  const show = (rows) =>
    table(
      "Changes",
      [
        ["When", (entry) => inZone(entry.event_at)],
        ["What", (entry) => words[entry.field] ?? inWords(entry.field)],
        ["Before", (entry) => fromOutside(entry.old_value ?? "–")],
        ["After", (entry) => fromOutside(entry.new_value ?? "–")],
        ["By", (entry) => (entry.actor_user_id ? accountLink(entry.actor_user_id) : "the holder")],
        ["Reason", (entry) => (entry.reason ? inWords(entry.reason) : "–")],
      ],
      rows,
      { empty: "Neither name nor address has changed." },
    );
  return card("Changes of name and address", growing(await next(undefined), show, next));
}

async function history(context, _, signal) {
  const next = async (offset) => {
    const { logs, total } = await ask(READS.auditLog, { query: { target_id: context.user.id, limit: ENTRIES, offset }, signal });
    const read = offset + logs.length;
    return { rows: logs, cursor: read < total && logs.length > 0 ? read : null };
  };
  return card("What administrators did", growing(await next(0), (rows) => entriesTable(rows, { about: false }), next));
}
