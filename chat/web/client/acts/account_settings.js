// What an account changes of itself, of its sign-ins and of the browsers that are told of messages.

/** @typedef {import("./acts.js").Parts} Parts */

/** @param {Pick<Parts, "store" | "rest">} parts */
export function makeAccountSettingsActs({ store, rest }) {
  return {
    /** @param {any} change Members of `PATCH /users/@me`. */
    async change(change) {
      store.apply("USER_UPDATE", await rest.patch("/users/@me", { body: change }));
    },
    /** @param {any} change Members of `PATCH /users/@me/settings`. */
    async settings(change) {
      store.apply("USER_SETTINGS_UPDATE", await rest.patch("/users/@me/settings", { body: change }));
    },
  };
}
