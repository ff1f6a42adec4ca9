// Links to places of this instance open in this page: messages, channels, invites. With Ctrl, Shift or the middle
// button they are the browser's.

import { decoded } from "../../base/address.js";
import { t } from "../../words/catalogue.js";
import { followInvite } from "../dialogs/invited.js";
import { placeOf } from "./router.js";

/** @param {import("./app.js").App} app */
export function openInside(app) {
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a[data-inside]") : null;
    if (!link || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    const path = link.getAttribute("href") ?? "";
    const [, root, code = ""] = path.split("/");
    if (root === "invite") void followInvite(app, decoded(code)).catch(app.report);
    else if (isThere(app, path)) app.go(path);
    else app.layers.toast(t("talk.unknown_channel"));
  });
}

/** @param {import("./app.js").App} app @param {string} path */
function isThere({ store }, path) {
  const { guildId, channelId } = placeOf(path);
  return channelId === null ? guildId === null || store.read.guilds.has(guildId) : store.read.channels.has(channelId);
}
