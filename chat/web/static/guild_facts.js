// What an invite shows of a guild.

import { h } from "../client/base/dom.js";
import { plural, t } from "./spoken.js";

const ICON_PIXELS = 160;

/** @param {{id: string, icon: string | null}} guild */
export function pictureOf(guild) {
  return `/media/icons/${guild.id}/${guild.icon}.webp?size=${ICON_PIXELS}`;
}

/**
 * How many there are, and how many of them are online, as items of a list.
 * @param {number} members
 * @param {number} online
 */
export function facts(members, online) {
  const lines = [plural(members, "{n} member", "{n} members")];
  if (online > 0) lines.push(t("{online} online", { online }));
  return lines.map((line) => h("li", {}, line));
}
