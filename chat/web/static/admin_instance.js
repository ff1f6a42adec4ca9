// The instance: its figures, what it lets people do, who waits to be let in, and its gateway.

import { size } from "./admin_archives.js";
import { actionButton } from "./admin_dialog.js";
import { READS } from "./admin_operations.js";
import { OTHER_ACTIONS } from "./admin_other_actions.js";
import { accountLink, card, code, facts, fromOutside, guildPlace, inZone, link, table, tag } from "./admin_parts.js";
import { again } from "./admin_places.js";
import { polled } from "./admin_polling.js";
import { ask, may } from "./admin_session.js";
import { fill, h } from "./dom.js";

const GUILDS = 20;
const EVERY_MS = 5_000;

export async function showInstance({ signal }) {
  const figures = may(READS.figures) ? await figuresCard(signal) : null;
  const gateway = may(READS.gateway) ? await gatewayCards(signal) : null;
  const registrations = may(READS.registrations) ? await registrationsCard(signal) : null;
  const policy = may(READS.policy) ? await policyCard(signal) : null;
  const limits = may(READS.limits) ? await limitsCard(signal) : null;
  return { title: "Instance", content: [figures, registrations, policy, limits, gateway] };
}

async function registrationsCard(signal) {
  const { registrations } = await ask(READS.registrations, { signal });
  const act = (name, { user }) =>
    actionButton(`${name}-${user.id}`, OTHER_ACTIONS[name], { params: { user_id: user.id }, name: user.username }, again);
  return card(
    "Registrations that wait",
    table(
      "Registrations that wait",
      [
        ["Account", (one) => accountLink(one.user.id, one.user)],
        ["Email", (one) => (one.email ? fromOutside(one.email) : "–")],
        ["From", (one) => (one.client_ip ? code(one.client_ip) : "–")],
        ["Since", (one) => inZone(one.registered_at)],
        ["Actions", (one) => h("span", { class: "buttons" }, act("approveRegistration", one), act("rejectRegistration", one))],
      ],
      registrations,
      { empty: "Nobody waits." },
    ),
  );
}

const REGISTRATION = { open: "anybody may make an account", approval: "an administrator approves each account", closed: "nobody may make an account" };

async function policyCard(signal) {
  const policy = await ask(READS.policy, { signal });
  const { config, overridden } = policy;
  const chosen = (name, words) => [words, overridden.includes(name) ? [" ", tag("chosen here")] : null];
  return card(
    "Policy",
    facts(
      ["Name", chosen("service_name", fromOutside(config.service_name))],
      ["Description", chosen("service_description", config.service_description === null ? "none" : fromOutside(config.service_description))],
      ["Invite on the front page", chosen("welcome_invite", config.welcome_invite === null ? "none" : code(config.welcome_invite))],
      ["New accounts", chosen("registration", REGISTRATION[config.registration])],
      ["Verified address", chosen("email_verification_required", config.email_verification_required ? "needed" : "not needed")],
      ["One community", chosen("single_community_enabled", config.single_community_enabled ? "yes" : "no")],
      config.single_community_guild_id ? ["Its guild", link(guildPlace(config.single_community_guild_id), code(config.single_community_guild_id))] : null,
      ["Direct messages", chosen("direct_messages_disabled", config.direct_messages_disabled ? "switched off" : "possible")],
    ),
    h("div", { class: "buttons" }, actionButton("changePolicy", OTHER_ACTIONS.changePolicy, { policy }, again)),
  );
}

async function limitsCard(signal) {
  const limits = await ask(READS.limits, { signal });
  const rows = Object.entries(limits.limits);
  return card(
    "Limits",
    h("p", {}, limits.overridden.length === 0 ? "All are what the settings say." : `${limits.overridden.length} of ${rows.length} are chosen here.`),
    h(
      "details",
      {},
      h("summary", {}, "All limits"),
      facts(...rows.map(([name, value]) => [code(name), [value.toLocaleString(), limits.overridden.includes(name) ? [" ", tag("chosen here")] : null]])),
    ),
    h("div", { class: "buttons" }, actionButton("changeLimits", OTHER_ACTIONS.changeLimits, { limits }, again)),
  );
}

// The figures as they are now, and as they become.
export async function figuresCard(signal) {
  const read = () => ask(READS.figures, { signal });
  const first = await read();
  const place = h("div", {}, shown(first));
  polled(first, read, (now) => fill(place, shown(now)), { signal, isDone: () => false, shortest: EVERY_MS });
  return card("Figures", place);
}

const tile = (words, value) => h("div", { class: "tile" }, h("dt", {}, words), h("dd", {}, value));

function shown(now) {
  return [
    h(
      "dl",
      { class: "tiles" },
      tile("People", now.accounts.people.toLocaleString()),
      tile("Bots", now.accounts.bots.toLocaleString()),
      tile("Online", now.online.toLocaleString()),
      tile("Sessions", now.sessions.toLocaleString()),
      tile("Guilds", now.guilds.toLocaleString()),
      tile("Channels", now.channels.toLocaleString()),
      tile("Messages", now.messages.toLocaleString()),
      tile("Jobs that wait", now.jobs_waiting.toLocaleString()),
      tile("Uploads", size(now.storage.upload_bytes)),
      tile("Database", size(now.storage.database_bytes)),
      tile("Memory", now.memory_bytes === null ? "–" : size(now.memory_bytes)),
      tile("Deleted accounts", now.accounts.deleted.toLocaleString()),
    ),
    h("p", { class: "muted" }, `Version ${now.version}, running since `, inZone(now.started_at), "."),
  ];
}

async function gatewayCards(signal) {
  const [gateway, { guilds }] = await Promise.all([ask(READS.gateway, { signal }), ask(READS.gatewayGuilds, { query: { limit: GUILDS }, signal })]);
  return [
    card(
      "Gateway",
      facts(
        ["Connections", gateway.connections.toLocaleString()],
        ["Sessions", `${gateway.sessions.total.toLocaleString()}, ${gateway.sessions.attached.toLocaleString()} attached, ${gateway.sessions.retained.toLocaleString()} retained, ${gateway.sessions.bots.toLocaleString()} of bots`],
        ["Guilds in memory", gateway.guilds_in_memory.toLocaleString()],
        ["Presences", gateway.presences.toLocaleString()],
        ["Voice connections", gateway.voice_connections.toLocaleString()],
        ["Waiting to be sent", gateway.backlog.toLocaleString()],
      ),
      h("div", { class: "buttons" }, actionButton("reloadGuilds", OTHER_ACTIONS.reloadGuilds, {}, again)),
    ),
    card(
      "Largest guilds in memory",
      table(
        "Largest guilds in memory",
        [
          ["Guild", (guild) => link(guildPlace(guild.guild_id), fromOutside(guild.name))],
          ["Members", (guild) => guild.member_count.toLocaleString()],
          ["Sessions", (guild) => guild.session_count.toLocaleString()],
          ["Memory", (guild) => size(guild.memory_bytes)],
        ],
        guilds,
        { empty: "None." },
      ),
    ),
  ];
}
