// Cards for invites of this instance that stand in a message. They keep their height while they are looked up.

import { decoded } from "../../base/address.js";
import { fill, h } from "../../base/dom.js";
import { t } from "../../words/catalogue.js";
import { faceOf } from "../names/guilds.js";
import { plainName } from "../names/people.js";

/** @typedef {import("../names/people.js").Place} Place */

const SHOWN = 3;
const PREFIX = "/invite/";

/**
 * @param {Node | undefined} text What was drawn of the message's text.
 * @param {Place} place
 */
export function inviteCards(text, place) {
  const { invite } = place;
  if (!invite || !(text instanceof Element)) return null;
  const links = [...text.querySelectorAll(`a[data-inside][href^="${PREFIX}"]`)];
  const codes = new Set(links.map((one) => decoded(one.getAttribute("href")?.split("/")[2] ?? "")));
  if (codes.size === 0) return null;
  return h("div", { class: "invites" }, ...[...codes].slice(0, SHOWN).map((code) => card(code, place, invite)));
}

/**
 * @param {string} code
 * @param {Place} place
 * @param {(code: string) => Promise<import("../../acts/guilds.js").Invite | null>} look
 */
function card(code, { store }, look) {
  const element = h("div", { class: "invite-card" });
  look(code).then(
    (invite) => {
      if (invite === null) return element.append(h("p", { class: "muted" }, t("invited.gone")));
      const { guild, channel, placeholder, member_count: members, presence_count: online } = invite;
      const face = h("span", { class: "invite-face", "aria-hidden": "true" });
      if (guild) fill(face, faceOf(guild));
      const isIn = store.read.guilds.has(guild?.id ?? "") || store.read.channels.has(channel?.id ?? "");
      const name = plainName(guild?.name ?? channel?.name ?? "");
      const counts = [t("invited.members", { n: members ?? 0 })];
      if (online) counts.push(t("invited.online", { n: online }));
      const whose = placeholder ? plainName(placeholder.global_name || placeholder.username) : "";
      const words = h(
        "div",
        { class: "panel-words" },
        h("span", { class: "meta" }, isIn ? t("invited.in") : t("invited.to")),
        h("strong", { class: "clip" }, h("bdi", {}, name)),
        h("span", { class: "small muted clip" }, counts.join(" \u00b7 ")),
      );
      const goes = isIn && !placeholder;
      const label = goes ? t("invited.open") : isIn ? t("invited.take_over") : t("new_guild.join_it");
      const press = { type: "button", class: goes ? "button" : "button primary", "data-act": "invite" };
      const button = h("button", { ...press, "data-code": code, "aria-label": `${label}: ${name}` }, label);
      if (!placeholder) return element.append(face, words, button);
      const takes = h("p", { class: "small invite-whose" }, t("invited.takes_over", { name: whose }));
      return element.append(face, words, takes, button);
    },
    () => element.append(h("p", { class: "muted" }, t("invited.unknown"))),
  );
  return element;
}
