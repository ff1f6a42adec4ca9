// The challenge before a form is sent, where the instance asks for one (hCaptcha or Cloudflare Turnstile).

import { pause } from "../client/base/pause.js";
import { ApiError } from "./api.js";
import { findById } from "./dom.js";
import { t } from "./spoken.js";

/** @typedef {{render: (place: HTMLElement, options: object) => string, getResponse: (id: string) => string, reset: (id: string) => void}} Service */

/** @type {Record<string, {script: string, name: string}>} */
const SERVICES = {
  hcaptcha: { script: "https://js.hcaptcha.com/1/api.js?render=explicit", name: "hcaptcha" },
  turnstile: { script: "https://challenges.cloudflare.com/turnstile/v0/api.js?render=explicit", name: "turnstile" },
};
const LOADING_MS = 15_000;

const place = findById("captcha", HTMLElement);
const widget = place ? shown(place) : null;
// Whoever sends the form hears of it, not the console.
widget?.catch(() => {});

// The headers that show a solved challenge; none where none is asked for. A solution is good once: the challenge starts
// anew for the next attempt.
/** @returns {Promise<Record<string, string>>} */
export async function captchaHeaders() {
  if (!place || !widget) return {};
  const { service, id } = await widget;
  const token = service.getResponse(id);
  if (!token) throw new ApiError(0, "CAPTCHA_REQUIRED", t("Solve the challenge first."));
  service.reset(id);
  return { "X-Captcha-Token": token, "X-Captcha-Type": place.dataset["provider"] ?? "" };
}

/** @param {HTMLElement} element */
async function shown(element) {
  const known = SERVICES[element.dataset["provider"] ?? ""];
  if (!known) throw failure();
  const { script, name } = known;
  await loaded(script);
  const service = await ready(name);
  const theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  return { service, id: service.render(element, { sitekey: element.dataset["siteKey"], theme }) };
}

/**
 * @param {string} source
 * @returns {Promise<unknown>}
 */
function loaded(source) {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = source;
    script.async = true;
    script.addEventListener("load", resolve);
    script.addEventListener("error", () => reject(failure()));
    document.head.append(script);
  });
}

/**
 * The scripts of both services finish setting up after they have loaded.
 * @param {string} name
 * @returns {Promise<Service>}
 */
async function ready(name) {
  const until = Date.now() + LOADING_MS;
  const services = /** @type {Record<string, Service | undefined>} */ (/** @type {unknown} */ (window));
  for (;;) {
    const service = services[name];
    if (typeof service?.render === "function") return service;
    if (Date.now() > until) throw failure();
    await pause(50);
  }
}

function failure() {
  return new ApiError(0, "NO_ANSWER", t("The challenge could not be loaded. Check your connection and reload the page."));
}
