// Who may ask to be friends, who may write, who sees the account's profile, and what the instance holds of it.

import { h } from "../../base/dom.js";
import { card, choices, toggle } from "../../views/settings/fields.js";
import { makeArchive } from "./archive.js";
import { plainName } from "../../views/names/people.js";
import { t } from "../../words/catalogue.js";

/** @typedef {import("../../views/shell/app.js").App} App */

/** Bits of `friend_source_flags`. */
const FRIENDS_OF_FRIENDS = 1;
const GUILD_MEMBERS = 2;
const EVERYONE = 4;
/** Of those of `group_dm_add_permission_flags`, the ones that are offered besides everyone. */
const FRIENDS_ONLY = 8;
const NOBODY = 16;

/** @param {App} app */
export function makePrivacy(app) {
  const { store, report } = app;
  const set = (/** @type {import("wire").ChangeSettingsBody} */ change) => app.acts.accountSettings.settings(change);
  const now = () => store.read.settings ?? /** @type {Partial<import("wire").UserSettings>} */ ({});

  /** @param {number} bit @param {string} label */
  function source(bit, label) {
    const checked = (Number(now()["friend_source_flags"] ?? 0) & bit) !== 0;
    const change = (/** @type {boolean} */ wanted) => {
      const flags = Number(now()["friend_source_flags"] ?? 0);
      return set({ friend_source_flags: wanted ? flags | bit : flags & ~bit });
    };
    return toggle({ label, checked, change, report });
  }

  /** @param {import("../../store/shapes.js").Guild} guild */
  function writers(guild) {
    const restricted = () => /** @type {string[]} */ (now()["restricted_guilds"] ?? []);
    const change = (/** @type {boolean} */ may) => {
      const others = restricted().filter((id) => id !== guild.id);
      return set({ restricted_guilds: may ? others : [...others, guild.id] });
    };
    const label = plainName(guild.properties["name"] ?? "");
    return toggle({ label, checked: !restricted().includes(guild.id), change, report });
  }

  const archive = makeArchive(app);
  const guilds = [...store.read.guilds.values()].filter((guild) => !guild.unavailable);
  const element = h(
    "div",
    { class: "settings-cards" },
    card(
      t("privacy.friends"),
      t("privacy.friends_words"),
      source(EVERYONE, t("privacy.everyone")),
      source(FRIENDS_OF_FRIENDS, t("privacy.friends_of_friends")),
      source(GUILD_MEMBERS, t("privacy.guild_members")),
    ),
    card(
      t("privacy.writing"),
      t("privacy.writing_words"),
      ...guilds.map(writers),
      toggle({
        label: t("privacy.new_guilds"),
        checked: now()["default_guilds_restricted"] !== true,
        change: (may) => set({ default_guilds_restricted: !may }),
        report,
      }),
    ),
    card(
      t("privacy.groups"),
      null,
      choices({
        legend: t("privacy.groups"),
        options: [
          { value: String(EVERYONE), label: t("privacy.everyone") },
          { value: String(FRIENDS_ONLY), label: t("privacy.friends_only") },
          { value: String(NOBODY), label: t("privacy.nobody") },
        ],
        value: String(now()["group_dm_add_permission_flags"] ?? FRIENDS_ONLY),
        change: (value) => set({ group_dm_add_permission_flags: Number(value) }),
        report,
      }),
    ),
    card(
      t("privacy.profile"),
      t("privacy.profile_words"),
      choices({
        legend: t("privacy.profile"),
        options: [
          { value: "0", label: t("privacy.everyone") },
          { value: "1", label: t("privacy.friends_and_members") },
          { value: "2", label: t("privacy.friends_only") },
        ],
        value: String(now()["profile_privacy"] ?? 0),
        change: (value) => set({ profile_privacy: Number(value) }),
        report,
      }),
    ),
    archive.element,
  );
  return { element, stop: archive.stop };
}
