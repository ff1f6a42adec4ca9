// The instance in figures, and its gateway.

import { size } from "./admin_archives.js";
import { actionButton } from "./admin_dialog.js";
import { READS } from "./admin_operations.js";
import { OTHER_ACTIONS } from "./admin_other_actions.js";
import { card, facts, fromOutside, guildPlace, inZone, link, table } from "./admin_parts.js";
import { again } from "./admin_places.js";
import { polled } from "./admin_polling.js";
import { ask, may } from "./admin_session.js";
import { fill, h } from "./dom.js";

const GUILDS = 20;
const EVERY_MS = 5_000;

export async function showInstance({ signal }) {
  const figures = may(READS.figures) ? await figuresCard(signal) : null;
  const gateway = may(READS.gateway) ? await gatewayCards(signal) : null;
  return { title: "Instance", content: [figures, gateway] };
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
