// What every view is given, and what is loaded when it is first wanted: an area by its name.

import { ApiError } from "../../../static/api.js";
import { t } from "../../words/catalogue.js";
import { holdKeys } from "./typed_ahead.js";

/** @typedef {import("../../store/store.js").Store} Store */
/** @typedef {import("./layers.js").Layers} Layers */
/** @typedef {import("./router.js").Place} Place */
/** @typedef {{element: HTMLElement, stop: () => void}} Cover */
/**
 * @typedef {object} App
 * @property {Store} store
 * @property {import("../../acts/acts.js").Acts} acts
 * @property {import("../../net/connection.js").Connection} connection
 * @property {Layers} layers
 * @property {import("./voice.js").Voice} voice This tab's place in voice.
 * @property {(path: string, options?: {replace?: boolean}) => void} go
 * @property {() => Place} place Where the person is.
 * @property {ReturnType<typeof makeAreas>} open An area by its name.
 * @property {((userId: string) => void) | null} mention Into what is being written; null where nothing can be.
 * @property {(words: string) => void} announce Read out, and not seen.
 * @property {(error: unknown) => void} report What went wrong, in words, for a moment.
 * @property {(cover: Cover) => void} cover A page over the whole client, until the person goes elsewhere.
 * @property {() => void} uncover Back to where the person was before.
 * @property {() => number} now Unix milliseconds.
 */

/** @typedef {keyof typeof AREAS} Area */

const AREAS = {
  account: () => import("../../areas/account/settings.js"),
  ask: () => import("../../areas/talk/ask.js"),
  bot_choice: () => import("../../areas/bots/choice.js"),
  bot_command: () => import("../../areas/bots/command.js"),
  bot_form: () => import("../../areas/bots/form.js"),
  bot_menu: () => import("../../areas/bots/menu.js"),
  bring: () => import("../../areas/bring.js"),
  channel_menu: () => import("../../areas/talk/channel_menu.js"),
  conversation: () => import("../../areas/people/conversation.js"),
  discovery: () => import("../../areas/discovery.js"),
  emoji: () => import("../../areas/pickers/emoji.js"),
  follow: () => import("../../areas/talk/follow.js"),
  forward: () => import("../../areas/talk/forward.js"),
  friends: () => import("../../areas/friends/friends.js"),
  guild_settings: () => import("../../areas/guild/settings.js"),
  incoming: () => import("../../areas/voice/incoming.js"),
  kept: () => import("../../areas/talk/kept.js"),
  later: () => import("../../areas/talk/later.js"),
  new_thread: () => import("../../areas/talk/new_thread.js"),
  person_menu: () => import("../../areas/people/menu.js"),
  pins: () => import("../../areas/talk/pins.js"),
  profile: () => import("../../areas/people/profile.js"),
  reactors: () => import("../../areas/talk/reactors.js"),
  remind: () => import("../../areas/talk/remind.js"),
  reminders: () => import("../../areas/talk/reminders.js"),
  report: () => import("../../areas/talk/report.js"),
  scheduled: () => import("../../areas/talk/scheduled.js"),
  search: () => import("../../areas/talk/search.js"),
  sign_out: () => import("../../areas/account/sign_out.js"),
  stickers: () => import("../../areas/pickers/stickers.js"),
  switcher: () => import("../../areas/switcher.js"),
  threads: () => import("../../areas/talk/threads.js"),
  voice: () => import("../../areas/voice/voice.js"),
  voice_person: () => import("../../areas/voice/person.js"),
  voters: () => import("../../areas/talk/voters.js"),
  welcome: () => import("../../areas/friends/welcome.js"),
  viewer: () => import("../../areas/viewer.js"),
};

// An area's `open` says what it takes; which area it is is known by name only.
/** @typedef {{open: (options: any) => unknown}} Loaded */
const LIVE = ["live", "following"];

/**
 * @param {() => App} app
 */
export function makeAreas(app) {
  /** @type {Map<Area, Loaded>} What is here opens at once, before the next key. */
  const loaded = new Map();

  /** A new version of the server has other files: the page is old. Without the server it cannot be told. */
  function missing() {
    const { connection, layers } = app();
    if (!navigator.onLine || !LIVE.includes(connection.state.name)) return void layers.toast(t("fault.no_answer"));
    layers.toast(t("shell.outdated"), { action: { label: t("shell.reload"), run: () => location.reload() } });
  }

  /** @param {unknown} error */
  function failed(error) {
    if (!(error instanceof ApiError)) throw error;
    app().report(error);
  }

  return (/** @type {Area} */ name, /** @type {object} */ options = {}) => {
    /** @param {Loaded} area */
    const open = (area) => area.open({ app: app(), ...options });
    const here = loaded.get(name);
    if (here) return void Promise.resolve(open(here)).catch(failed);
    /** @type {() => Promise<Loaded>} */
    const load = AREAS[name];
    const release = holdKeys();
    load()
      .then((area) => (loaded.set(name, area), open(area)), missing)
      .catch(failed)
      .finally(release);
  };
}
