// The instance: its figures, what it lets people do, who waits to be let in, and its gateway.

import { fill, h } from "../client/base/dom.js";
import { size } from "./admin_archives.js";
import { actionButton } from "./admin_dialog.js";
import { READS } from "./admin_operations.js";
import { OTHER_ACTIONS } from "./admin_other_actions.js";
import { accountLink, card, code, facts, fromOutside, guildPlace, inZone, link, table, tag } from "./admin_parts.js";
import { again } from "./admin_places.js";
import { polled } from "./admin_polling.js";
import { ask, may } from "./admin_session.js";
import { locale, t, tn } from "./spoken.js";

const GUILDS = 20;
const EVERY_MS = 5_000;

/**
 * @param {import("./admin_places.js").Visit} visit
 * @returns {Promise<import("./admin_places.js").Shown>}
 */
export async function showInstance({ signal }) {
  const figures = may(READS.figures) ? await figuresCard(signal) : null;
  const gateway = may(READS.gateway) ? await gatewayCards(signal) : null;
  const registrations = may(READS.registrations) ? await registrationsCard(signal) : null;
  const policy = may(READS.policy) ? await policyCard(signal) : null;
  const limits = may(READS.limits) ? await limitsCard(signal) : null;
  return { title: t("Instance"), content: [figures, registrations, policy, limits, gateway] };
}

/** @param {AbortSignal} signal */
async function registrationsCard(signal) {
  const { registrations } = await ask(READS.registrations, { signal });
  /** @type {(name: "approveRegistration" | "rejectRegistration", one: typeof registrations[number]) => HTMLElement | null} */
  const act = (name, { user }) =>
    actionButton(`${name}-${user.id}`, OTHER_ACTIONS[name], { params: { user_id: user.id }, name: user.username }, again);
  return card(
    t("Registrations that wait"),
    table(
      t("Registrations that wait"),
      [
        [t("Account"), (one) => accountLink(one.user.id, one.user)],
        [t("Email"), (one) => (one.email ? fromOutside(one.email) : "–")],
        [t("From"), (one) => (one.client_ip ? code(one.client_ip) : "–")],
        [t("Since"), (one) => inZone(one.registered_at)],
        [t("Actions"), (one) => h("span", { class: "buttons" }, act("approveRegistration", one), act("rejectRegistration", one))],
      ],
      registrations,
      { empty: t("Nobody waits.") },
    ),
  );
}

/** @type {Record<string, string>} */
const REGISTRATION = { open: t("anybody may make an account"), approval: t("an administrator approves each account"), closed: t("nobody may make an account") };

/** @param {AbortSignal} signal */
async function policyCard(signal) {
  const policy = await ask(READS.policy, { signal });
  const { config, overridden } = policy;
  /** @type {(name: string, words: import("../client/base/dom.js").Child) => import("../client/base/dom.js").Child} */
  const chosen = (name, words) => [words, overridden.includes(name) ? [" ", tag(t("chosen here"))] : null];
  return card(
    t("Policy"),
    facts(
      [t("Name"), chosen("service_name", fromOutside(config.service_name))],
      [t("Description"), chosen("service_description", config.service_description === null ? t("none") : fromOutside(config.service_description))],
      [t("Invite on the front page"), chosen("welcome_invite", config.welcome_invite === null ? t("none") : code(config.welcome_invite))],
      [t("New accounts"), chosen("registration", REGISTRATION[config.registration])],
      [t("Verified address"), chosen("email_verification_required", config.email_verification_required ? t("needed") : t("not needed"))],
      [t("One community"), chosen("single_community_enabled", config.single_community_enabled ? t("yes") : t("no"))],
      config.single_community_guild_id ? [t("Its community"), link(guildPlace(config.single_community_guild_id), code(config.single_community_guild_id))] : null,
      [t("Direct messages"), chosen("direct_messages_disabled", config.direct_messages_disabled ? t("switched off") : t("possible"))],
    ),
    h("div", { class: "buttons" }, actionButton("changePolicy", OTHER_ACTIONS.changePolicy, { policy }, again)),
  );
}

/** @param {AbortSignal} signal */
async function limitsCard(signal) {
  const limits = await ask(READS.limits, { signal });
  const rows = Object.entries(limits.limits);
  const limit = (/** @type {[string, number]} */ [name, value]) => {
    const isChosen = limits.overridden.includes(name);
    return /** @type {const} */ ([code(name), [value.toLocaleString(locale()), isChosen ? [" ", tag(t("chosen here"))] : null]]);
  };
  return card(
    t("Limits"),
    h("p", {}, limits.overridden.length === 0 ? t("All are what the settings say.") : t("{chosen} of {all} are chosen here.", { chosen: limits.overridden.length, all: rows.length })),
    h(
      "details",
      {},
      h("summary", {}, t("All limits")),
      facts(...rows.map(limit)),
    ),
    h("div", { class: "buttons" }, actionButton("changeLimits", OTHER_ACTIONS.changeLimits, { limits }, again)),
  );
}

/**
 * The figures as they are now, and as they become.
 * @param {AbortSignal} signal
 */
export async function figuresCard(signal) {
  const read = () => ask(READS.figures, { signal });
  const first = await read();
  const place = h("div", {}, shown(first));
  void polled(first, read, (now) => fill(place, shown(now)), { signal, isDone: () => false, shortest: EVERY_MS });
  return card(t("Figures"), place);
}

const tile = (/** @type {string} */ words, /** @type {string} */ value) => h("div", { class: "tile" }, h("dt", {}, words), h("dd", {}, value));

/** @param {import("wire").InstanceFigures} now */
function shown(now) {
  return [
    h(
      "dl",
      { class: "tiles" },
      tile(t("People"), now.accounts.people.toLocaleString(locale())),
      tile(t("Bots"), now.accounts.bots.toLocaleString(locale())),
      tile(t("Online"), now.online.toLocaleString(locale())),
      tile(t("Sessions"), now.sessions.toLocaleString(locale())),
      tile(t("Communities"), now.guilds.toLocaleString(locale())),
      tile(t("Channels"), now.channels.toLocaleString(locale())),
      tile(t("Messages"), now.messages.toLocaleString(locale())),
      tile(t("Jobs that wait"), now.jobs_waiting.toLocaleString(locale())),
      tile(t("Uploads"), size(now.storage.upload_bytes)),
      tile(t("Database"), size(now.storage.database_bytes)),
      tile(t("Memory"), now.memory_bytes === null ? "–" : size(now.memory_bytes)),
      tile(t("Deleted accounts"), now.accounts.deleted.toLocaleString(locale())),
    ),
    h("p", { class: "muted" }, tn("Version {version}, running since {time}.", { version: now.version, time: inZone(now.started_at) })),
  ];
}

/** @param {AbortSignal} signal */
async function gatewayCards(signal) {
  const [gateway, { guilds }] = await Promise.all([ask(READS.gateway, { signal }), ask(READS.gatewayGuilds, { query: { limit: GUILDS }, signal })]);
  return [
    card(
      t("Gateway"),
      facts(
        [t("Connections"), gateway.connections.toLocaleString(locale())],
        [t("Sessions"), t("{total}, {attached} attached, {retained} retained, {bots} of bots", gateway.sessions)],
        [t("Communities in memory"), gateway.guilds_in_memory.toLocaleString(locale())],
        [t("Presences"), gateway.presences.toLocaleString(locale())],
        [t("Voice connections"), gateway.voice_connections.toLocaleString(locale())],
        [t("Waiting to be sent"), gateway.backlog.toLocaleString(locale())],
      ),
      h("div", { class: "buttons" }, actionButton("reloadGuilds", OTHER_ACTIONS.reloadGuilds, {}, again)),
    ),
    card(
      t("Largest communities in memory"),
      table(
        t("Largest communities in memory"),
        [
          [t("Community"), (guild) => link(guildPlace(guild.guild_id), fromOutside(guild.name))],
          [t("Members"), (guild) => guild.member_count.toLocaleString(locale())],
          [t("Sessions"), (guild) => guild.session_count.toLocaleString(locale())],
          [t("Memory"), (guild) => size(guild.memory_bytes)],
        ],
        guilds,
        { empty: t("None.") },
      ),
    ),
  ];
}
