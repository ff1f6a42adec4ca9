// The front page: what this place is, and the ways in.

import "./page.js";
import { decoded } from "../client/base/address.js";
import { fill } from "../client/base/dom.js";
import { ApiError, call } from "./api.js";
import { byId, findById, formById } from "./dom.js";
import { onSubmit } from "./forms.js";
import { facts, pictureOf } from "./guild_facts.js";
import { current } from "./session.js";

const INVITE_ADDRESS = /\/invite\/([^/?#\s]+)/;

// Who is signed in is here to talk.
if (current() !== null) location.replace("/channels/@me/start");

/**
 * What somebody was sent: an address of an invite, wherever it leads, or its code alone.
 * @param {string} text
 */
function codeIn(text) {
  const found = INVITE_ADDRESS.exec(text);
  return found ? decoded(found[1] ?? "") : text;
}

onSubmit(formById("invite-form"), ({ invite = "" }) => {
  location.assign(`/invite/${encodeURIComponent(codeIn(invite.trim()))}`);
});

/**
 * @param {import("wire").Guild | import("wire").PartialGuild} guild
 * @param {number} members
 * @param {number} online
 */
function present(guild, members, online) {
  byId("community-name").textContent = guild.name === document.body.dataset["serviceName"] ? "" : guild.name;
  fill(byId("community-facts"), facts(members, online));
  if (guild.icon) {
    const picture = byId("picture", HTMLImageElement);
    picture.src = pictureOf(guild);
    picture.classList.add("icon");
  }
  byId("community").hidden = false;
  byId("join").hidden = false;
}

const community = findById("community", HTMLElement);
if (community !== null) {
  try {
    const invite = await call("GET", `/v1/invites/${encodeURIComponent(community.dataset["invite"] ?? "")}`);
    if (invite.guild) present(invite.guild, invite.member_count, invite.presence_count);
  } catch (error) {
    // An invite that is gone leaves the page as it is without one.
    if (!(error instanceof ApiError)) throw error;
  }
}
