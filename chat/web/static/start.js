// The front page: what this place is, and the ways in.

import "./page.js";
import { ApiError, call } from "./api.js";
import { byId, fill } from "./dom.js";
import { onSubmit } from "./forms.js";
import { facts, pictureOf } from "./guild_facts.js";
import { current } from "./session.js";

const INVITE_ADDRESS = /\/invite\/([^/?#\s]+)/;

// Who is signed in is here to talk.
if (current() !== null) location.replace("/channels/@me/start");

// What somebody was sent: an address of an invite, wherever it leads, or its code alone.
function codeIn(text) {
  const found = INVITE_ADDRESS.exec(text);
  return found ? decodeURIComponent(found[1]) : text;
}

onSubmit(byId("invite-form"), ({ invite }) => {
  location.assign(`/invite/${encodeURIComponent(codeIn(invite.trim()))}`);
});

function present({ guild, member_count: members, presence_count: online }) {
  byId("community-name").textContent = guild.name === document.body.dataset.serviceName ? "" : guild.name;
  byId("community-about").textContent = guild.description ?? "";
  fill(byId("community-facts"), facts(members, online));
  if (guild.icon) {
    byId("picture").src = pictureOf(guild);
    byId("picture").classList.add("icon");
  }
  byId("community").hidden = false;
  byId("join").hidden = false;
}

const community = byId("community");
if (community !== null) {
  try {
    const invite = await call("GET", `/v1/invites/${encodeURIComponent(community.dataset.invite)}`);
    if (invite.guild) present(invite);
  } catch (error) {
    // An invite that is gone leaves the page as it is without one.
    if (!(error instanceof ApiError)) throw error;
  }
}
