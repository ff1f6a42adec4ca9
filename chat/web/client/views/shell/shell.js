// The whole of the client: guilds, channels, the talk and its people, and where each stands on wide and narrow windows.

import { fill, h } from "../../base/dom.js";
import { FORUMS } from "../../store/channels.js";
import { t } from "../../words/catalogue.js";
import { useClock } from "../../words/dates.js";
import { makeChannelList } from "../channels/channel_list.js";
import { makeDirectList } from "../channels/direct_list.js";
import { makeForum } from "../forum/forum.js";
import { nameOfChannel } from "../names/channels.js";
import { makePanel } from "../channels/panel.js";
import { makeMembersPane } from "../members/pane.js";
import { orderedGuilds } from "../../store/guild_order.js";
import { makeRail } from "../rail/rail.js";
import { makeAnnouncer } from "./announcer.js";
import { makeAreas } from "./app.js";
import { makeBeside } from "./beside.js";
import { watchCalls } from "./calls.js";
import { makeBanner } from "./connection.js";
import { wordsOf } from "./faults.js";
import { makeCovers } from "./covers.js";
import { isForAdults, makeGate } from "./gate.js";
import { openInside } from "./inside.js";
import { keepFocus } from "./focus.js";
import { keyList, makeKeys } from "./keys.js";
import { makeLayers } from "./layers.js";
import { holding } from "./long_press.js";
import { makeNotices } from "./notices.js";
import { personMenus } from "./person_menu.js";
import { makeRouter, pathOf } from "./router.js";
import { makeSteps } from "./steps.js";
import { swiping } from "./swipe.js";
import { makeTalk } from "./talk.js";
import { makeTitle } from "./title.js";
import { makeVoice, voiceKeys } from "./voice.js";

/** @typedef {import("./app.js").App} App */
/** @typedef {import("./router.js").Place} Place */

/** @param {{store: App["store"], acts: App["acts"], connection: App["connection"]}} parts */
export function makeShell({ store, acts, connection }) {
  const layers = makeLayers(wordsOf);
  const announce = makeAnnouncer();
  const router = makeRouter(arrive);
  /** @type {App} */
  const app = {
    store,
    acts,
    connection,
    layers,
    voice: makeVoice(),
    go: router.go,
    place: router.place,
    open: makeAreas(() => app),
    get mention() {
      return (beside.talk() ?? talk)?.mention?.() ?? null;
    },
    announce,
    report: (error) => layers.toast(wordsOf(error)),
    cover(next) {
      covers.cover(next);
    },
    uncover: () => covers.leave(),
    now: Date.now,
  };
  const title = makeTitle(app);
  makeNotices(app);
  if (app.voice.isThere) watchCalls(app);
  const rail = makeRail(app);
  const panel = makePanel(app);
  const side = h("div", { class: "side" });
  const ground = h("div", { class: "ground" });
  const skip = h("a", { class: "skip unseen", href: "#talk" }, t("shell.skip"));
  const element = h("div", { class: "app", "data-pane": "list" }, skip, rail.element, side, ground);
  const covers = makeCovers(element, router.go);
  const { openable, step, stepGuild, nextRegion } = makeSteps(app);
  const members = makeMembersPane(app, element, () => show("talk"));
  element.append(members.element);
  const beside = makeBeside(app, ground, () => isReady && router.show());
  const banner = makeBanner({ connection, now: Date.now });
  document.body.append(banner.element);
  /** @type {import("./talk.js").Talk | null} */
  let talk = null;
  /** @type {{element: HTMLElement, draw: () => void, stop: () => void} | null} */
  let list = null;
  /** @type {string | null | undefined} the guild whose channels are listed */
  let listed;
  /** @type {Set<string | null>} guilds whose channels for adults the person wants to see */
  const passed = new Set();
  let isReady = false;
  let hasFriends = false;

  openInside(app);
  personMenus(app);
  skip.addEventListener("click", (event) => (event.preventDefault(), talk?.focus()));
  holding(document.documentElement);
  swiping(element, (pane) => show(pane));
  keepFocus();

  /** @param {"list" | "talk" | "members"} pane Of several on a narrow window. */
  function show(pane) {
    element.dataset["pane"] = pane !== "list" && talk === null && !hasFriends ? "list" : pane;
    members.settle();
    // The row of the open channel comes into view only where the list is seen.
    list?.draw();
  }

  function toggleMembers() {
    const { guildId } = router.place();
    // The thread gives its place to them.
    if (beside.talk() && talk) return app.go(pathOf({ guildId, channelId: talk.channelId }));
    if (!members.toggle()) show(element.dataset["pane"] === "members" ? "talk" : "members");
  }

  /** @param {Place} place */
  function arrive(place) {
    if (!isReady) return;
    const { guildId, channelId, settings } = place;
    if (place.isStart) return void land();
    if (settings !== null) return void openSettings(guildId, settings);
    covers.uncover();
    if (guildId !== null && !store.read.guilds.has(guildId)) return leaveFor("/channels/@me");
    showList(guildId);
    const channel = channelId === null ? undefined : store.read.channels.get(channelId);
    if (channel === undefined) return void missing(place);
    if ((channel.guild_id ?? null) !== guildId)
      return leaveFor(pathOf({ ...place, guildId: channel.guild_id ?? null }));
    void acts.guilds.keepChannel(guildId ?? "@me", channel.id);
    open(channel.id, guildId, place.messageId);
    return undefined;
  }

  /** After signing in: where the person was last, else the first guild, else what there is to do. */
  async function land() {
    const last = await acts.guilds.lastPlace();
    if (!router.place().isStart) return;
    const guild = store.read.guilds.get(last ?? "") ?? orderedGuilds(store.read)[0];
    leaveFor(pathOf({ guildId: last === "@me" ? null : (guild?.id ?? null) }));
  }

  /** @param {string | null} guildId None: of the account. @param {string} page */
  function openSettings(guildId, page) {
    if (guildId === null) return app.open("account", { page });
    if (store.read.guilds.has(guildId)) return app.open("guild_settings", { guildId, page });
    return leaveFor("/channels/@me");
  }

  /** @param {string} path */
  function leaveFor(path) {
    app.go(path, { replace: true });
  }

  /** @param {string | null} guildId */
  function showList(guildId) {
    rail.here(guildId);
    if (listed === guildId) return;
    listed = guildId;
    list?.stop();
    list = guildId === null ? makeDirectList(app) : makeChannelList(app, guildId);
    // The panel stays where it is: what is put into the page anew has lost the focus.
    if (side.contains(panel.element)) side.firstElementChild?.replaceWith(list.element);
    else side.append(list.element, app.voice.bar, panel.element);
    list.draw();
  }

  /**
   * @param {string} channelId
   * @param {string | null} guildId
   * @param {string | null} messageId
   */
  function open(channelId, guildId, messageId) {
    const channel = store.read.channels.get(channelId);
    if (channel) title.show(() => nameOfChannel(store.read, store.read.channels.get(channelId) ?? channel));
    rail.here(guildId);
    const isClosed = guildId !== null && !passed.has(guildId) && isForAdults(app, channel);
    const parent = isClosed ? null : beside.parentOf(channel);
    if (parent === null) {
      beside.close();
      openAlone(channelId, guildId, messageId, isClosed);
      return members.show(isClosed ? null : { channelId, guildId });
    }
    openAlone(parent.id, guildId, null);
    members.show(null);
    beside.open(channelId, guildId, messageId, parent.id);
  }

  /**
   * @param {string} channelId
   * @param {string | null} guildId
   * @param {string | null} messageId
   * @param {boolean} [isClosed] What is for adults is asked about first.
   */
  function openAlone(channelId, guildId, messageId, isClosed = false) {
    const isThere = talk?.channelId === channelId;
    if (!isThere) talk?.stop();
    const parts = { app, channelId, guildId, back: () => show("list"), toggleMembers };
    const isForum = FORUMS.has(store.read.channels.get(channelId)?.type ?? -1);
    const pass = () => {
      passed.add(guildId ?? "");
      talk?.stop();
      talk = null;
      router.show();
    };
    const gate = { ...parts, guildId: guildId ?? "", pass };
    const made = () => (isClosed ? makeGate(gate) : isForum ? makeForum(parts) : makeTalk(parts));
    const next = talk && isThere ? talk : made();
    talk = next;
    if (!isThere) fill(ground, next.element);
    show("talk");
    next.open(messageId);
    if (!isThere && !matchMedia("(pointer: coarse)").matches) next.focus();
  }

  /**
   * No channel is named, or one that is not there: the last one that was open, else the first.
   * @param {Place} place
   */
  async function missing({ guildId, channelId, isFriends }) {
    const key = guildId ?? "@me";
    if (channelId !== null && guildId !== null && (await acts.threads.find(channelId)))
      return router.place().channelId === channelId ? router.show() : undefined;
    const last = await acts.guilds.lastChannel(key);
    const there = openable(guildId);
    const next = there.find(({ id }) => id === last) ?? (guildId === null ? undefined : there[0]);
    if (channelId !== null) layers.toast(t("talk.unknown_channel"));
    if (router.place().channelId !== channelId || (router.place().guildId ?? "@me") !== key) return;
    if (next && !isFriends && (channelId !== null || isWide()))
      return leaveFor(pathOf({ guildId, channelId: next.id }));
    talk?.stop();
    talk = null;
    beside.close();
    hasFriends = false;
    members.show(null);
    title.show(() => "");
    if (guildId === null) {
      hasFriends = true;
      const isNew = !isFriends && store.read.guilds.size === 0;
      // The person may be elsewhere when it is loaded.
      const isWanted = () => talk === null && hasFriends;
      const parts = { ground, back: () => show("list"), isWanted };
      if (isNew) app.open("welcome", parts);
      else app.open("friends", parts);
      return show(isFriends || isNew ? "talk" : "list");
    }
    fill(
      ground,
      h(
        "main",
        { id: "talk", class: "talk empty", tabindex: "-1", "data-region": "" },
        h("p", { class: "muted" }, t("shell.no_channel")),
      ),
    );
    show("list");
  }

  makeKeys(
    {
      switcher: () => app.open("switcher"),
      keys: () => void layers.dialog({ title: t("keys.title"), content: keyList(), wide: true }),
      region: nextRegion,
      channel_up: () => step(-1, false),
      channel_down: () => step(1, false),
      unread_up: () => step(-1, true),
      unread_down: () => step(1, true),
      guild_up: () => stepGuild(-1),
      guild_down: () => stepGuild(1),
      guild_read() {
        const { guildId } = router.place();
        if (guildId === null) return false;
        return void acts.reads.markGuildRead(guildId).catch(app.report);
      },
      read: () => (beside.talk() ?? talk)?.leaveUnread(),
      ...voiceKeys(app.voice),
    },
    () => element.inert || document.querySelector("dialog[open], :popover-open") !== null,
  );

  /** With the first Ready the skeleton goes; what vanishes later is left. */
  function settle() {
    if (store.read.session.id === null) return;
    if (!isReady) {
      isReady = true;
      useClock(store.read.settings?.["time_format"] ?? 0);
      element.classList.add("ready");
      return router.show();
    }
    const { guildId, channelId } = router.place();
    const isGone = guildId !== null && !store.read.guilds.has(guildId);
    if (isGone || (channelId !== null && !store.read.channels.has(channelId))) router.show();
    return undefined;
  }

  store.watch(["*"], settle);
  settle();
  return { element };
}

function isWide() {
  return matchMedia("(min-width: 40rem)").matches;
}
