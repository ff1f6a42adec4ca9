// The workbench: what a server for development does, and the levers that move it.

import * as clock from "./dev_clock.js";
import * as commands from "./dev_commands.js";
import * as faults from "./dev_faults.js";
import * as limits from "./dev_limits.js";
import * as mail from "./dev_mail.js";
import * as send from "./dev_send.js";
import * as traffic from "./dev_traffic.js";
import * as world from "./dev_world.js";
import { say } from "./dom.js";

/** @type {Record<string, {look: () => unknown} | undefined>} */
const PLACES = { commands, faults, limits, mail, world };

function go(focus = true) {
  const wanted = location.hash.slice(1);
  const sections = [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-place]"))];
  const shown = sections.find((section) => section.id === wanted) ?? sections[0];
  if (!shown) return;
  for (const section of sections) section.hidden = section !== shown;
  for (const link of /** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll("#places a"))) {
    if (link.hash === `#${shown.id}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  say("");
  document.body.classList.toggle("at-traffic", shown.id === "traffic");
  PLACES[shown.id]?.look();
  if (focus) shown.querySelector("h2")?.focus();
}

await world.start();
for (const place of [clock, commands, faults, limits, mail, send]) place.start();
window.addEventListener("hashchange", () => go());
go(false);
await traffic.start();
