// Accounts, what the account has with them, whether they are there, and what it noted of them.

/** @typedef {import("./shapes.js").Payload} Payload */
/** @typedef {import("./shapes.js").State} State */

/**
 * Take over how another account is called. Of its own the session knows more than others see, by User Update.
 * @param {State} state
 * @param {import("wire").PartialUser} user As others see it, or nothing but its id.
 */
export function putUser(state, user) {
  if (user.username && user.id !== state.session.me) state.users.set(user.id, user);
}

/**
 * @param {State} state
 * @param {Payload} entry
 */
export function putRelationship(state, { user, ...entry }) {
  if (user) putUser(state, user);
  state.relationships.set(entry.id, entry);
}

/**
 * @param {State} state
 * @param {Payload} presence
 */
export function putPresence(state, { user, status, mobile, afk, custom_status }) {
  putUser(state, user);
  if (status === "offline") state.presences.delete(user.id);
  else state.presences.set(user.id, { status, mobile, afk, custom_status });
}

const INCOMING_REQUEST = 3;

/**
 * How many people ask for friendship.
 * @param {State} state
 */
export function incomingRequests(state) {
  return [...state.relationships.values()].filter((one) => one["type"] === INCOMING_REQUEST).length;
}

/** @type {import("./shapes.js").Applying} */
export const USER_EVENTS = {
  USER_UPDATE(state, user, touch) {
    state.users.set(user.id, /** @type {import("./shapes.js").User} */ (user));
    touch("me");
    touch(`user:${user.id}`);
  },
  RELATIONSHIP_ADD: tellOfRelationship,
  RELATIONSHIP_UPDATE: tellOfRelationship,
  RELATIONSHIP_REMOVE(state, { id }, touch) {
    state.relationships.delete(id);
    touch("relationships");
    touch(`user:${id}`);
  },
  PRESENCE_UPDATE(state, presence, touch) {
    putPresence(state, presence);
    touch(`user:${presence.user.id}`);
  },
  PRESENCE_UPDATE_BULK(state, { presences }, touch) {
    for (const presence of presences) {
      putPresence(state, presence);
      touch(`user:${presence.user.id}`);
    }
  },
  USER_NOTE_UPDATE(state, { id, note }, touch) {
    if (note) state.notes.set(id, note);
    else state.notes.delete(id);
    touch(`user:${id}`);
  },
};

/** @type {import("./shapes.js").Apply} */
function tellOfRelationship(state, entry, touch) {
  putRelationship(state, entry);
  touch("relationships");
  touch(`user:${entry.id}`);
}
