// Everything that a person does: views call these, and these alone call the API.

import { makeAccountActs } from "./account.js";
import { makeAccountSettingsActs } from "./account_settings.js";
import { makeCallActs } from "./calls.js";
import { makeBroughtActs } from "./brought.js";
import { makeDraftActs } from "./drafts.js";
import { makeGifActs } from "./gifs.js";
import { makeGuildSettingsActs } from "./guild_settings.js";
import { makeGuildActs } from "./guilds.js";
import { makeInteractionActs } from "./interactions.js";
import { makeMemberActs } from "./members.js";
import { makeMessageActs } from "./messages.js";
import { makeOldNameActs } from "./old_names.js";
import { makePeopleActs } from "./people.js";
import { makeReadActs } from "./reads.js";
import { makePollActs } from "./polls.js";
import { makeReminderActs } from "./reminders.js";
import { makeScheduledActs } from "./scheduled.js";
import { makeThreadActs } from "./threads.js";
import { makeVoiceActs } from "./voice.js";

/**
 * @typedef {object} Parts
 * @property {import("../store/store.js").Store} store
 * @property {import("../net/rest.js").Rest} rest
 * @property {import("../net/connection.js").Connection} connection
 * @property {() => number} now Unix milliseconds.
 * @property {() => string} random A new nonce, of at most 32 characters.
 */
/** @typedef {ReturnType<typeof makeActs>} Acts */

/** @param {Parts} parts */
export function makeActs(parts) {
  const { connection } = parts;
  const messages = makeMessageActs(parts);
  connection.watch(() => connection.state.name === "live" && messages.resume());
  return {
    messages,
    reads: makeReadActs(parts),
    brought: makeBroughtActs(parts),
    gifs: makeGifActs(parts),
    guilds: makeGuildActs(parts),
    interactions: makeInteractionActs(parts),
    members: makeMemberActs(parts),
    guildSettings: makeGuildSettingsActs(parts),
    calls: makeCallActs(parts),
    drafts: makeDraftActs(parts),
    account: makeAccountActs(parts),
    accountSettings: makeAccountSettingsActs(parts),
    oldNames: makeOldNameActs(parts),
    people: makePeopleActs(parts),
    polls: makePollActs(parts),
    reminders: makeReminderActs(parts),
    scheduled: makeScheduledActs(parts),
    threads: makeThreadActs(parts),
    voice: makeVoiceActs(parts),
    interest: {
      /** Says which rows of a member list are looked at. */
      show: connection.show,
    },
  };
}
