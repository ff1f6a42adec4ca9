// What a new guild may begin with: channels and a role for those who look after it (guilds.md, Creation template).

import { BITS } from "../../store/permissions.js";
import { t } from "../../words/catalogue.js";

const [TEXT, VOICE, CATEGORY, ANNOUNCEMENTS] = [0, 2, 4, 5];
const [EVERYONE, TEAM] = ["0", "1"];
const GREEN = 0x2f7d5b;
const TEAM_RIGHTS =
  BITS.KICK_MEMBERS | BITS.MANAGE_CHANNELS | BITS.MANAGE_MESSAGES | BITS.VIEW_CHANNEL | BITS.SEND_MESSAGES;

/** @typedef {{type: number, name: string, children?: [number, string][]}} Section */

/** By name: how it is called, and its sections of channels. */
export const TEMPLATES = /** @type {const} */ ({
  club: {
    label: () => t("template.club"),
    sections: () => [
      section(t("template.welcome"), [ANNOUNCEMENTS, t("template.news")], [TEXT, t("template.hello")]),
      section(t("template.talk"), [TEXT, t("template.general")], [TEXT, t("template.pictures")]),
      section(t("template.meetings"), [TEXT, t("template.dates")], [VOICE, t("template.room")]),
    ],
  },
  study: {
    label: () => t("template.study"),
    sections: () => [
      section(t("template.course"), [ANNOUNCEMENTS, t("template.news")], [TEXT, t("template.dates")]),
      section(t("template.work"), [TEXT, t("template.questions")], [TEXT, t("template.material")]),
      section(t("template.talk"), [TEXT, t("template.general")], [VOICE, t("template.room")]),
    ],
  },
  project: {
    label: () => t("template.project"),
    sections: () => [
      section(t("template.welcome"), [ANNOUNCEMENTS, t("template.news")], [TEXT, t("template.hello")]),
      section(t("template.work"), [TEXT, t("template.questions")], [TEXT, t("template.ideas")]),
      section(t("template.talk"), [TEXT, t("template.general")], [VOICE, t("template.room")]),
    ],
  },
});

/** @param {string} name @param {...[number, string]} children @returns {Section} */
function section(name, ...children) {
  return { type: CATEGORY, name, children };
}

/**
 * A template as Create guild takes it: ids are local to it; in announcements the team alone writes.
 * @param {keyof typeof TEMPLATES} name
 */
export function templateOf(name) {
  /** @type {{id: string, [member: string]: unknown}[]} */
  const channels = [];
  const add = (/** @type {Record<string, unknown>} */ channel) =>
    channels.push({ id: `${channels.length + 1}`, position: channels.length, ...channel });
  for (const { type, name: title, children = [] } of TEMPLATES[name].sections()) {
    const parent = `${add({ type, name: title })}`;
    for (const [kind, label] of children) {
      const isNews = kind === ANNOUNCEMENTS;
      add({ type: kind, name: label, parent_id: parent, ...(isNews && { permission_overwrites: NEWS }) });
    }
  }
  return { name, roles: [role(EVERYONE, "@everyone", 0n), role(TEAM, t("template.team"), TEAM_RIGHTS)], channels };
}

const NEWS = [
  { id: EVERYONE, type: 0, allow: "0", deny: `${BITS.SEND_MESSAGES}` },
  { id: TEAM, type: 0, allow: `${BITS.SEND_MESSAGES}`, deny: "0" },
];

/** @param {string} id @param {string} name @param {bigint} mask */
function role(id, name, mask) {
  const isTeam = id === TEAM;
  return { id, name, permissions: `${mask}`, hoist: isTeam, mentionable: isTeam, color: isTeam ? GREEN : 0 };
}
