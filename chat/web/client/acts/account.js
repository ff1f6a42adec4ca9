// What people do with their own account.

/** @typedef {import("./acts.js").Parts} Parts */

/** @param {Parts} parts */
export function makeAccountActs({ rest, connection }) {
  return {
    /** Of this session and of those to come. @param {"online" | "idle" | "dnd" | "invisible"} status */
    status(status) {
      connection.command(3, { status, afk: false });
      return rest.patch("/users/@me/settings", { body: { status } });
    },
    /** @param {string | null} text @param {number | null} until When it goes by itself, in ms. */
    customStatus(text, until) {
      const custom = text === null ? null : { text, expires_at: until === null ? null : new Date(until).toISOString() };
      return rest.patch("/users/@me/settings", { body: { custom_status: custom } });
    },
  };
}
