// What can be done with the thread or the conversation that is open.

import { h } from "../../base/dom.js";
import { BITS, may } from "../../store/permissions.js";
import { t } from "../../words/catalogue.js";
import { nameOfChannel } from "../../views/names/channels.js";

/** @typedef {import("../../views/shell/app.js").App} App */
/** @typedef {import("../../store/shapes.js").Channel} Channel */

const GROUP = 3;

/** @param {{app: App, channelId: string, anchor: Element}} parts */
export function open({ app, channelId, anchor }) {
  const channel = app.store.read.channels.get(channelId);
  if (!channel) return;
  const entries = channel["thread_metadata"] ? ofThread(app, channel) : ofConversation(app, channel);
  app.layers.menu(anchor, entries, t("head.more"));
}

/** @param {App} app @param {Channel} thread */
function ofThread({ store, acts, report }, thread) {
  const { threads } = acts;
  const told = (/** @type {Promise<unknown>} */ done) => void done.catch(report);
  const isJoined = store.read.joined.has(thread.id);
  const { archived, locked } = thread["thread_metadata"];
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
function ofConversation(app, channel) {
  const close = async () => {
    await app.acts.people.closeConversation(channel.id);
    app.go("/channels/@me", { replace: true });
  };
  if (channel.type !== GROUP) {
    return [{ label: t("conversation.close"), icon: "close", run: () => void close().catch(app.report) }];
  }
  const name = nameOfChannel(app.store.read, channel);
  const leave = () =>
    app.layers.dialog({
      title: t("conversation.leave"),
      content: h("p", {}, t("conversation.leave_question", { name })),
      actions: [{ label: t("conversation.leave"), kind: "danger", run: close }],
    });
  return [
    { label: t("conversation.change"), icon: "edit", run: () => app.open("conversation", { channelId: channel.id }) },
    { label: t("conversation.leave"), icon: "leave", kind: /** @type {const} */ ("danger"), run: leave },
  ];
}
