// What can be done with the thread, the conversation or the announcement channel that is open.

import { h } from "../../base/dom.js";
import { BITS, may } from "../../store/permissions.js";
import { isChannelMuted } from "../../store/unread.js";
import { t } from "../../words/catalogue.js";
import { callEntries } from "../../views/names/calls.js";
import { nameOfChannel, othersOf } from "../../views/names/channels.js";

/** @typedef {import("../../views/shell/app.js").App} App */
/** @typedef {import("../../store/shapes.js").Channel} Channel */

const GROUP = 3;

/** @param {{app: App, channelId: string, anchor: import("../../views/shell/menu.js").Anchor}} parts */
export function open({ app, channelId, anchor }) {
  const channel = app.store.read.channels.get(channelId);
  if (!channel) return;
  const entries = channel["thread_metadata"]
    ? ofThread(app, channel)
    : channel.guild_id
      ? ofAnnouncements(app, channel)
      : ofConversation(app, channel, anchor);
  app.layers.menu(anchor, entries, t("head.more"));
}

/** @param {App} app @param {Channel} thread */
function ofThread({ store, acts, report }, thread) {
  const { threads } = acts;
  const told = (/** @type {Promise<unknown>} */ done) => void done.catch(report);
  const isJoined = store.read.joined.has(thread.id);
  const { archived = false, locked = false } = thread.thread_metadata ?? {};
  const parent = store.read.channels.get(thread["parent_id"] ?? "");
  const manages = parent !== undefined && may(store.read, parent, BITS.MANAGE_THREADS);
  const mayArchive = manages || (thread["owner_id"] === store.read.session.me && !locked);
  return [
    isJoined
      ? { label: t("threads.unfollow"), icon: "bell-off", run: () => told(threads.leave(thread.id)) }
      : { label: t("threads.follow"), icon: "bell", run: () => told(threads.join(thread.id)) },
    ...(mayArchive
      ? [
          {
            label: archived ? t("threads.reopen") : t("threads.archive"),
            icon: "archive",
            run: () => told(threads.archive(thread.id, !archived)),
          },
        ]
      : []),
  ];
}

/** @param {App} app @param {Channel} channel */
function ofAnnouncements(app, channel) {
  const follow = () => app.open("follow", { channelId: channel.id });
  return [{ label: t("follow.title"), icon: "megaphone", run: follow }];
}

/**
 * @param {App} app
 * @param {Channel} channel
 * @param {import("../../views/shell/menu.js").Anchor} spot
 * @returns {(import("../../views/shell/menu.js").Entry | null)[]}
 */
function ofConversation(app, channel, spot) {
  const { acts, store } = app;
  const told = (/** @type {Promise<unknown>} */ done) => void done.catch(app.report);
  const isMuted = isChannelMuted(store.read, channel, app.now());
  const first = [
    { label: t("guild.mark_read"), icon: "check", run: () => told(acts.reads.markChannelRead(channel.id)) },
    {
      label: isMuted ? t("conversation.unmute") : t("conversation.mute"),
      icon: "mute",
      run: () => told(acts.guilds.muteChannel(null, channel.id, !isMuted)),
    },
  ];
  const close = async () => {
    await acts.people.closeConversation(channel.id);
    if (app.place().channelId === channel.id) app.go("/channels/@me", { replace: true });
  };
  if (channel.type !== GROUP) {
    const [other] = othersOf(store.read, channel);
    const person = () => app.open("person_menu", { userId: other?.id, guildId: null, spot });
    return [
      ...callEntries(app, channel),
      ...first,
      null,
      ...(channel.type === 1 ? [{ label: t("conversation.person"), icon: "member", run: person }] : []),
      { label: t("conversation.close"), icon: "close", run: () => told(close()) },
    ];
  }
  const name = nameOfChannel(store.read, channel);
  const leave = () =>
    app.layers.dialog({
      title: t("conversation.leave"),
      content: h("p", {}, t("conversation.leave_question", { name })),
      actions: [{ label: t("conversation.leave"), kind: "danger", run: close }],
    });
  return [
    ...callEntries(app, channel),
    ...first,
    null,
    { label: t("conversation.change"), icon: "edit", run: () => app.open("conversation", { channelId: channel.id }) },
    { label: t("conversation.leave"), icon: "leave", kind: /** @type {const} */ ("danger"), run: leave },
  ];
}
