// The settings of a guild: which pages there are, and which of them somebody may see.

import { BITS, guildPermissions } from "../../store/permissions.js";
import { t } from "../../words/catalogue.js";
import { plainName } from "../../views/names/people.js";
import { makeSettings } from "../../views/settings/frame.js";
import { auditLogPage } from "./audit_log.js";
import { bansPage } from "./bans.js";
import { botsPage } from "./bots.js";
import { ownershipPage } from "./ownership.js";
import { webhooksPage } from "./webhooks.js";
import { channelsPage } from "./channels.js";
import { discoveryPage } from "./discovery.js";
import { emojiPage, stickerPage } from "./expressions.js";
import { invitesPage } from "./invites.js";
import { membersPage } from "./members.js";
import { oldNamesPage } from "./old_names.js";
import { overviewPage } from "./overview.js";
import { rolesPage } from "./roles.js";

/** @typedef {import("../../views/shell/app.js").App} App */
/** @typedef {import("../../views/settings/frame.js").Page} Page */
/**
 * @typedef {object} Entry
 * @property {string} key
 * @property {() => string} label
 * @property {string} icon
 * @property {bigint} needs What somebody has to hold in the guild.
 * @property {(app: App, guildId: string) => Page} make
 * @property {(app: App, guildId: string) => Promise<boolean>} [isWanted] Where the page is of use in few guilds alone.
 */

/** @type {readonly Entry[]} */
const PAGES = [
  { key: "overview", label: () => t("settings.overview"), icon: "info", needs: BITS.MANAGE_GUILD, make: overviewPage },
  { key: "roles", label: () => t("settings.roles"), icon: "role", needs: BITS.MANAGE_ROLES, make: rolesPage },
  {
    key: "channels",
    label: () => t("settings.channels"),
    icon: "hash",
    needs: BITS.MANAGE_CHANNELS,
    make: channelsPage,
  },
  { key: "members", label: () => t("head.members"), icon: "member", needs: BITS.MANAGE_ROLES, make: membersPage },
  { key: "invites", label: () => t("settings.invites"), icon: "invite", needs: BITS.MANAGE_GUILD, make: invitesPage },
  {
    key: "old_names",
    label: () => t("old_names.title"),
    icon: "clock",
    needs: BITS.MANAGE_GUILD,
    make: oldNamesPage,
    isWanted: async ({ acts }, guildId) => (await acts.oldNames.page(guildId, "0", 1)).length > 0,
  },
  { key: "emoji", label: () => t("settings.emoji"), icon: "emoji", needs: BITS.MANAGE_EXPRESSIONS, make: emojiPage },
  {
    key: "stickers",
    label: () => t("settings.stickers"),
    icon: "sticker",
    needs: BITS.MANAGE_EXPRESSIONS,
    make: stickerPage,
  },
  {
    key: "webhooks",
    label: () => t("webhooks.title"),
    icon: "webhook",
    needs: BITS.MANAGE_WEBHOOKS,
    make: webhooksPage,
  },
  { key: "bots", label: () => t("bots.title"), icon: "code", needs: BITS.MANAGE_GUILD, make: botsPage },
  { key: "bans", label: () => t("settings.bans"), icon: "ban", needs: BITS.BAN_MEMBERS, make: bansPage },
  {
    key: "audit_log",
    label: () => t("settings.audit_log"),
    icon: "list",
    needs: BITS.VIEW_AUDIT_LOG,
    make: auditLogPage,
  },
  {
    key: "discovery",
    label: () => t("discovery_settings.title"),
    icon: "compass",
    needs: BITS.MANAGE_GUILD,
    make: discoveryPage,
  },
];

/** @type {readonly Entry[]} */
const OWNERS = [
  { key: "ownership", label: () => t("ownership.title"), icon: "crown", needs: BITS.MANAGE_GUILD, make: ownershipPage },
];

/** @type {{guildId: string, settings: import("../../views/settings/frame.js").Settings} | null} */
let opened = null;

/** @param {{app: App, guildId: string, page?: string}} parts */
export function open({ app, guildId, page = "" }) {
  if (opened?.guildId === guildId) return opened.settings.show(page);
  const guild = app.store.read.guilds.get(guildId);
  if (!guild) return undefined;
  const mask = guildPermissions(guild, app.store.read.session.me);
  const isOwner = guild.properties["owner_id"] === app.store.read.session.me;
  const pages = [...PAGES, ...(isOwner ? OWNERS : [])]
    .filter(({ needs }) => (mask & needs) !== 0n)
    .map(({ label, make, isWanted, ...entry }) => ({
      ...entry,
      label: label(),
      isWanted: isWanted?.(app, guildId),
      make: () => make(app, guildId),
    }));
  const title = plainName(guild.properties["name"] ?? "");
  const settings = makeSettings({ app, title, path: `/channels/${guildId}/settings`, pages });
  opened = { guildId, settings };
  app.cover({
    element: settings.element,
    stop() {
      opened = null;
      settings.stop();
    },
  });
  settings.show(page);
  return undefined;
}
