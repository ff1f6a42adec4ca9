// Starts the client: who is signed in, which language, the store, the connection, the shell.

import { learn } from "../static/language.js";
import { askToSignIn, current, forget, isStaying } from "../static/session.js";
import { makeActs } from "./acts/acts.js";
import { underItsName } from "./base/address.js";
import { applyAppearance, keptAppearance, PLAIN, themeOf } from "./base/appearance.js";
import { serviceWorker } from "./base/trusted.js";
import { makeConnection } from "./net/connection.js";
import { canShare } from "./net/leader.js";
import { makeRest } from "./net/rest.js";
import { makeStore } from "./store/store.js";
import { makeShell } from "./views/shell/shell.js";
import { locale, t, useCatalogue } from "./words/catalogue.js";
import { directionOf, languageFor } from "./words/languages.js";

/** What an account has whose person chose no language. */
const DEFAULT_LOCALE = "en-US";
const HIDDEN_FLUSH_MS = 1000;
/** Besides English: the languages in which the server can say why it refuses. */
const SERVER_SPEAKS = ["de"];

/**
 * Runs the watchers before the next frame; each second while no frame is drawn.
 * @param {() => void} flush
 */
function flushing(flush) {
  let isWaiting = false;
  const run = () => {
    isWaiting = false;
    flush();
  };
  return () => {
    if (isWaiting) return;
    isWaiting = true;
    if (document.hidden) setTimeout(run, HIDDEN_FLUSH_MS);
    else requestAnimationFrame(run);
  };
}

async function speak() {
  // A choice is kept in this browser; with its region where the browser names one for the same language.
  const kept = localStorage.getItem("language");
  const chosen = kept && languageFor([kept]).language;
  const wishes = navigator.languages.filter((wish) => !chosen || languageFor([wish]).language === chosen);
  const { language, locale: region } = languageFor([...wishes, ...(kept ? [kept] : [])]);
  document.documentElement.lang = region;
  document.documentElement.dir = directionOf(language.tag);
  const folder = document.body.dataset["client"];
  const read = async (/** @type {string} */ place) => (await fetch(`${folder}/${place}`)).json();
  const sentences = SERVER_SPEAKS.includes(language.tag) ? read(`../words/${language.tag}/errors.json`) : {};
  useCatalogue(await read(`words/${language.tag}.json`), region);
  learn(await sentences);
}

/**
 * What the account chose in another browser holds here too, as soon as Ready tells of it; one choice is kept.
 * @param {import("./store/store.js").Store} store
 */
function followLanguage(store) {
  const follow = () => {
    if (localStorage.getItem("language") !== null) return;
    const chosen = store.read.settings?.["locale"] ?? DEFAULT_LOCALE;
    const { language } = languageFor([chosen]);
    if (chosen === DEFAULT_LOCALE || language.tag === languageFor([locale()]).language.tag) return;
    unwatch();
    localStorage.setItem("language", language.tag);
    location.reload();
  };
  const unwatch = store.watch(["me"], follow);
  follow();
}

async function start() {
  const named = underItsName();
  if (named !== null) return location.replace(named);
  const session = current();
  if (session === null) return askToSignIn();
  const { token } = session;
  const appearance = keptAppearance();
  if (appearance) applyAppearance(appearance);
  // Who signs out here goes where that leads; who did in another tab, by what the storage tells.
  const leave = () => {
    if (current()?.token !== token) return;
    forget();
    void askToSignIn();
  };
  const store = makeStore({ wake: flushing(() => store.flush()), report: reportError });
  const rest = makeRest({ token: () => token, signedOut: leave });
  const address = `${location.origin.replace(/^http/, "ws")}/gateway?v=1&encoding=json`;
  const ended = (/** @type {string} */ why) => (why === "reload" ? location.reload() : leave());
  const shared = isStaying() && canShare() ? `${document.body.dataset["client"]} ${token}` : null;
  const connection = makeConnection({ store, address, token: () => token, ended, shared });
  // Another account in this browser, or none: all its tabs begin again.
  window.addEventListener("storage", ({ key }) => key === "session" && current()?.token !== token && location.reload());
  connection.start();
  const random = () => crypto.randomUUID().replaceAll("-", "");
  const acts = makeActs({ store, rest, connection, now: Date.now, random });
  await speak();
  document.title = document.body.dataset["serviceName"] ?? t("shell.name");
  // Until a choice is kept in this browser, light or dark is what the account chose elsewhere.
  if (!appearance) {
    const follows = () => {
      const theme = store.read.settings?.["theme"];
      if (!theme) return false;
      if (keptAppearance() === null) applyAppearance({ ...PLAIN, theme: themeOf(theme) });
      return true;
    };
    // Ready may have come while the words were read.
    if (!follows()) {
      const unwatch = store.watch(["me"], () => {
        if (follows()) unwatch();
      });
    }
  }
  followLanguage(store);
  const shell = makeShell({ store, acts, connection });
  void acts.messages.load();
  void acts.drafts.load();
  document.body.append(shell.element);
  // It says so when the server is away at the next visit; a browser that has none loses nothing else.
  if ("serviceWorker" in navigator) serviceWorker().catch(() => {});
  return undefined;
}

void start();
