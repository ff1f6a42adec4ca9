// The conversation with somebody: it is made where there is none.

/** @typedef {import("../shell/app.js").App} App */

/**
 * Opens it; who has gone elsewhere by the time it is made stays there.
 * @param {Pick<App, "acts" | "go">} app
 * @param {string} userId
 * @param {(channelId: string) => void} [opened] Run when it is open.
 */
export async function writeTo({ acts, go }, userId, opened = () => {}) {
  const from = location.pathname;
  const id = await acts.people.openConversation([userId]);
  if (location.pathname !== from) return;
  go(`/channels/@me/${id}`);
  opened(id);
}
