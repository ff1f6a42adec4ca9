// The server's clock: what it shows, moved and stopped.

import { ask } from "./dev_api.js";
import { byId } from "./dom.js";
import { locale, t } from "./spoken.js";

const POLL_MS = 2_000;
const TICK_MS = 250;

/** @typedef {{now: string, offset_ms: number, paused: boolean, next_timer_ms: number | null}} Reading */

/** @type {Reading | null} */
let reading = null;
let readAt = 0;

export function start() {
  byId("clock-pause").addEventListener("click", () => change({ paused: !reading?.paused }));
  byId("clock-step").addEventListener("click", () => change({ timers: 1 }));
  for (const button of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-advance]"))) {
    button.addEventListener("click", () => change({ advance_ms: Number(button.dataset["advance"]) }));
  }
  setInterval(poll, POLL_MS);
  setInterval(tick, TICK_MS);
  void poll();
}

async function poll() {
  if (document.hidden) return;
  try {
    const answer = await fetch("/v1/_dev/clock", { cache: "no-store" });
    if (answer.ok) took(await answer.json());
  } catch {
    // the traffic says that the server is gone
  }
}

/** @param {{paused?: boolean, advance_ms?: number, timers?: number}} body */
async function change(body) {
  /** @type {Reading | undefined} */
  const answer = await ask("POST", "/clock", body);
  if (answer !== undefined) took(answer);
}

/** @param {Reading} answer */
function took(answer) {
  reading = answer;
  readAt = performance.now();
  const { paused } = answer;
  byId("clock").classList.toggle("paused", paused);
  byId("clock-pause").setAttribute("aria-pressed", String(paused));
  byId("clock-pause").textContent = paused ? t("Let time go on") : t("Stop time");
  byId("clock-step").title = answer.next_timer_ms === null ? "" : t("in {span}", { span: span(answer.next_timer_ms) });
  const ahead = answer.offset_ms === 0 ? "" : t("{span} ahead", { span: span(answer.offset_ms) });
  byId("clock-offset").textContent = [ahead, paused ? t("stands still") : ""].filter(Boolean).join(" · ");
  tick();
}

function tick() {
  if (reading === null || document.hidden) return;
  const passed = reading.paused ? 0 : performance.now() - readAt;
  const now = new Date(Date.parse(reading.now) + passed);
  const clock = byId("clock-now", HTMLTimeElement);
  clock.dateTime = now.toISOString();
  clock.textContent = now.toLocaleString(locale(), { dateStyle: "medium", timeStyle: "medium", timeZone: "UTC" });
}

/** @param {number} milliseconds */
function span(milliseconds) {
  /** @type {[number, string][]} */
  const units = [[86_400_000, "d"], [3_600_000, "h"], [60_000, "min"], [1_000, "s"], [1, "ms"]];
  const [size, name] = units.find(([each]) => milliseconds >= each) ?? [1, "ms"];
  return `${(milliseconds / size).toLocaleString(locale(), { maximumFractionDigits: 1 })} ${name}`;
}

