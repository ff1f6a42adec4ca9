// What an account changes of itself, of its sign-ins and of the browsers that are told of messages.

import { exchange } from "../../static/api.js";

/** @typedef {import("./acts.js").Parts} Parts */
/** @typedef {{body?: import("wire").SudoFieldsBody, sudo?: string}} Proof What shows that it is really the holder. */
/** @typedef {import("../net/rest.js").Told} Proved */

/** @param {Pick<Parts, "store" | "rest">} parts */
export function makeAccountSettingsActs({ store, rest }) {
  return {
    /** @param {import("wire").ChangeOwnAccountBody} change */
    async change(change) {
      store.apply("USER_UPDATE", await rest.patch("/users/@me", { body: change }));
    },
    /** @param {import("wire").ChangeSettingsBody} change */
    async settings(change) {
      store.apply("USER_SETTINGS_UPDATE", await rest.patch("/users/@me/settings", { body: change }));
    },
    /**
     * Which of somebody's messages notify: all, none, or (null) as their places are set.
     * @param {string} userId
     * @param {0 | 2 | null} level
     */
    async personNotifications(userId, level) {
      const { [userId]: _, ...others } = store.read.settings?.["person_notifications"] ?? {};
      const person_notifications = level === null ? others : { ...others, [userId]: level };
      store.apply("USER_SETTINGS_UPDATE", await rest.patch("/users/@me/settings", { body: { person_notifications } }));
    },
    /** Words that are worth a mention. @returns {Promise<string[]>} */
    words: async () => (await rest.get("/users/@me/notification-words")).words,
    /** @param {string[]} words @returns {Promise<string[]>} as they are kept */
    putWords: async (words) => (await rest.put("/users/@me/notification-words", { body: { words } })).words,
    /** The key by which this server's messages reach browsers; null where it sends none. */
    async pushKey() {
      const { data } = await exchange("GET", "/.well-known/chat");
      return /** @type {string | null} */ (data?.push?.public_vapid_key ?? null);
    },
    /** The browsers that are told. @returns {Promise<{subscription_id: string, user_agent: string | null}[]>} */
    pushed: async () => (await rest.get("/users/@me/push/subscriptions")).subscriptions,
    /** @param {PushSubscriptionJSON} subscription @returns {Promise<string>} its id */
    async subscribe({ endpoint, keys }) {
      const { p256dh = "", auth = "" } = keys ?? {};
      const body = { endpoint: endpoint ?? "", keys: { p256dh, auth }, user_agent: navigator.userAgent };
      return (await rest.post("/users/@me/push/subscribe", { body })).subscription_id;
    },
    /** @param {string} id */
    unsubscribe: (id) => rest.delete(`/users/@me/push/subscriptions/${encodeURIComponent(id)}`),
    /** Where the account is signed in. */
    sessions: () => rest.get("/auth/sessions"),
    /** @param {string[]} hashes At most 100. @param {Proof} proof @returns {Promise<Proved>} */
    endSessions(hashes, { body, sudo }) {
      const whole = { session_id_hashes: hashes, ...body };
      return rest.ask("POST", "/auth/sessions/logout", { body: whole, ...(sudo && { sudo }) });
    },
    /** @param {"disable" | "delete"} way @param {Proof} proof @returns {Promise<Proved>} */
    close: (way, { body = {}, sudo }) => rest.ask("POST", `/users/@me/${way}`, { body, ...(sudo && { sudo }) }),
    /** How far the archive of the account is; null without one. */
    archive: async () => (await rest.get("/users/@me/harvest")).harvest,
    /** @param {boolean} files with what was uploaded @param {Proof} proof @returns {Promise<Proved>} */
    orderArchive(files, { body, sudo }) {
      return rest.ask("POST", "/users/@me/harvest", {
        body: { include_attachments: files, ...body },
        ...(sudo && { sudo }),
      });
    },
    /** Where it is downloaded from, for a while. @param {Proof} proof @returns {Promise<Proved>} */
    archiveAddress: ({ body = {}, sudo }) =>
      rest.ask("POST", "/users/@me/harvest/download", { body, ...(sudo && { sudo }) }),
    /** What a passkey is asked to sign. */
    passkeyOptions: () => rest.post("/users/@me/sudo/webauthn/authentication-options"),
  };
}
